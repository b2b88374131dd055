/* What is known of the server, and names in it. */
import {count} from "./elements.js";

/*
 * namespaces: ids, which are arrays of names; tables: {id, isView, state}; views, by key: {id, status, trouble}; jobs, by id.
 * selected: the key of the table that is described. isCut: there is more than is shown.
 */
export const state = {namespaces: [], tables: [], views: new Map(), jobs: new Map(), selected: null, isCut: false};

export const keyOf = (id) => id.join("$");
export const pathOf = (id) => encodeURIComponent(id.length ? id.join("$") : "$");
export const shown = (id) => id.join(".");
export const sqlName = (id) => id.map((part) => `"${part.replaceAll('"', '""')}"`).join(".");

/* How a view stands: a class, a text, and what explains it. */
export function freshness(view) {
  const s = view.status;
  if (view.trouble) return {kind: "bad", text: "unknown", title: view.trouble};
  if (!s) return {kind: "", text: "loading"};
  if (s.state === "unfilled") return {kind: "stale", text: "not filled yet"};
  if (s.state !== "ok") return {kind: "bad", text: String(s.state), title: s.reason};
  if (s.intact === false) return {kind: "bad", text: "changed by others", title: s.reason};
  if (s.versions_behind === null || s.versions_behind === undefined) return {kind: "bad", text: "unknown", title: s.reason};
  if (s.versions_behind === 0) return {kind: "good", text: "up to date"};
  return {kind: "stale", text: `${count(s.versions_behind, "version")} behind`, title: s.reason};
}
export const sourceOf = (view) =>
  view.status && view.status.source ? [...(view.status.source_namespace || []), view.status.source] : null;

export const isNumber = (type) => /^(u?int\d+|half\w*|float\w*|double|decimal.*)$/.test(type);
export const isTime = (type) => /^(date|timestamp)/.test(type);
