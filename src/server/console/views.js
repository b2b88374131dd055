/* Views: how far they are behind, and refreshing them. */
import {select} from "./catalog.js";
import {$, complain, el, replace, say, when, whole} from "./elements.js";
import {showJobs} from "./jobs.js";
import {showLineage} from "./lineage.js";
import {call, each} from "./requests.js";
import {freshness, keyOf, pathOf, shown, sourceOf, state} from "./state.js";

async function loadStatus(view) {
  try {
    view.status = await call(`v1/materialized_view/${pathOf(view.id)}/status`, {});
    view.trouble = null;
  } catch (error) {
    view.trouble = error.message;
  }
}

export async function loadStatuses() {
  await each(state.views.values(), loadStatus);
  showViews();
  showLineage();
}

function viewRow(view) {
  const s = view.status || {},
    fresh = freshness(view),
    source = sourceOf(view),
    name = shown(view.id),
    key = keyOf(view.id);
  return el(
    "tr",
    {"data-view": key},
    el(
      "th",
      {scope: "row"},
      el("button", {type: "button", class: "link", "data-key": "select " + key, click: () => select(view.id)}, name),
    ),
    el("td", {}, source ? shown(source) : ""),
    el(
      "td",
      {},
      el("span", {class: `badge ${fresh.kind}`, title: fresh.title}, fresh.text),
      fresh.title ? el("div", {class: "kind"}, fresh.title) : null,
    ),
    el("td", {class: "number"}, whole(s.versions_behind)),
    el("td", {class: "number", title: s.reason}, whole(s.rows_behind)),
    el("td", {class: "number"}, whole(s.rows)),
    el("td", {}, when(s.refreshed_at_ms)),
    el(
      "td",
      {},
      el(
        "div",
        {class: "tools"},
        el(
          "button",
          {type: "button", "data-key": "refresh " + key, "aria-label": `Refresh ${name}`, click: () => refresh(view, false)},
          "Refresh",
        ),
        el(
          "button",
          {type: "button", "data-key": "rebuild " + key, "aria-label": `Rebuild ${name}`, click: () => refresh(view, true)},
          "Rebuild",
        ),
      ),
    ),
  );
}

function showViews() {
  const body = $("views").tBodies[0];
  const now = JSON.stringify([...state.views]);
  $("no-views").hidden = state.views.size > 0;
  if (body.dataset.shown === now) return;
  body.dataset.shown = now;
  replace(body, ...[...state.views.values()].map(viewRow));
}

async function refresh(view, full) {
  try {
    const begun = await call(`v1/materialized_view/${pathOf(view.id)}/refresh`, full ? {full: true} : {});
    complain(null);
    say(`${full ? "Rebuild" : "Refresh"} of ${shown(view.id)} begun`);
    if (!state.jobs.has(begun.job_id)) {
      state.jobs.set(begun.job_id, {
        id: begun.job_id,
        type: "refresh_materialized_view",
        table: keyOf(view.id),
        state: "QUEUED",
        created: Date.now(),
      });
    }
    showJobs();
    document.dispatchEvent(new Event("look"));
  } catch (error) {
    complain(error);
  }
}
