/* Namespaces, tables and views as a tree, and one of them described. */
import {$, el, replace, setText, whole} from "./elements.js";
import {compose} from "./query.js";
import {call, each, names} from "./requests.js";
import {keyOf, pathOf, shown, state} from "./state.js";

const MOST_NAMESPACES = 300,
  MOST_TABLES = 3000;

export async function loadCatalog() {
  const namespaces = [],
    tables = [],
    views = new Map();
  let level = [[]],
    cut = false;
  while (level.length) {
    const next = [];
    await each(level, async (id) => {
      const at = `v1/namespace/${pathOf(id)}`;
      const [below, here, made] = await Promise.all([
        names(`${at}/list`, "namespaces", MOST_NAMESPACES),
        names(`${at}/table/list`, "tables", MOST_TABLES),
        names(`${at}/materialized_view/list`, "views", MOST_TABLES),
      ]);
      cut = cut || below.cut || here.cut || made.cut;
      namespaces.push(id);
      for (const name of below.found) next.push([...id, name]);
      const isView = new Set(made.found);
      here.found.forEach((name, i) => tables.push({id: [...id, name], isView: isView.has(name), state: here.states[i]}));
      for (const name of made.found) {
        const view = [...id, name];
        views.set(keyOf(view), {...state.views.get(keyOf(view)), id: view});
      }
    });
    level = next.slice(0, Math.max(0, MOST_NAMESPACES - namespaces.length));
    cut = cut || level.length < next.length || tables.length > MOST_TABLES;
    if (tables.length > MOST_TABLES) break;
  }
  const order = (a, b) => (shown(a) < shown(b) ? -1 : 1);
  namespaces.sort(order);
  tables.sort((a, b) => order(a.id, b.id));
  Object.assign(state, {namespaces, tables, isCut: cut, views: new Map([...views].sort((a, b) => order(a[1].id, b[1].id)))});
}

const closed = new Set();

function entry(table) {
  const key = keyOf(table.id);
  return el(
    "li",
    {},
    el(
      "button",
      {
        type: "button",
        class: "link",
        "data-key": key,
        "aria-current": state.selected === key ? "true" : null,
        click: () => select(table.id),
      },
      table.id.at(-1),
    ),
    " ",
    el("span", {class: "kind"}, table.isView ? "view" : "table"),
    table.state && table.state !== "ok" && table.state !== "unfilled" ? el("span", {class: "kind bad"}, " " + table.state) : null,
  );
}

function branch(id) {
  const inside = (other) => other.length === id.length + 1 && id.every((part, i) => other[i] === part);
  const items = [
    ...state.namespaces.filter(inside).map((child) => {
      const key = keyOf(child);
      return el(
        "li",
        {},
        el(
          "details",
          {open: !closed.has(key), toggle: (event) => (event.target.open ? closed.delete(key) : closed.add(key))},
          el("summary", {"data-key": "namespace " + key}, child.at(-1), " ", el("span", {class: "kind"}, "namespace")),
          branch(child),
        ),
      );
    }),
    ...state.tables.filter((table) => inside(table.id)).map(entry),
  ];
  return items.length ? el("ul", {}, ...items) : el("p", {class: "kind"}, "empty");
}

export function showCatalog() {
  const now = JSON.stringify([state.namespaces, state.tables, state.selected]);
  if ($("catalog").dataset.shown === now) return;
  $("catalog").dataset.shown = now;
  replace($("catalog"), branch([]));
}

export async function select(id) {
  state.selected = keyOf(id);
  showCatalog();
  const isView = state.views.has(state.selected);
  const body = $("details-body");
  setText($("details-title"), shown(id));
  $("details").hidden = false;
  body.replaceChildren("Loading");
  try {
    const [table, rows, view] = await Promise.all([
      call(`v1/table/${pathOf(id)}/describe`, {}),
      call(`v1/table/${pathOf(id)}/count_rows`, {}),
      isView ? call(`v1/materialized_view/${pathOf(id)}/describe`, {}) : null,
    ]);
    if (state.selected === keyOf(id)) body.replaceChildren(...described(id, table, rows, view));
  } catch (error) {
    if (state.selected === keyOf(id)) body.replaceChildren(el("p", {class: "bad"}, error.message));
  }
  $("details-title").focus();
}

function deselect(id) {
  state.selected = null;
  $("details").hidden = true;
  showCatalog();
  const from = [...document.querySelectorAll("#catalog [data-key]")].find((node) => node.dataset.key === keyOf(id));
  if (from) from.focus();
}

function described(id, table, rows, view) {
  const facts = [
    ["Kind", view ? "materialized view" : "table"],
    ["Version", whole(table.version)],
    ["Rows", whole(rows)],
    ["Place", table.location || ""],
  ];
  const columns = table.schema ? table.schema.fields : [];
  return [
    el("dl", {}, ...facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
    view && view.query ? el("pre", {"aria-label": "Definition", tabindex: 0}, view.query) : null,
    el(
      "div",
      {class: "scroll", role: "region", "aria-label": "Columns", tabindex: 0},
      el(
        "table",
        {},
        el("thead", {}, el("tr", {}, ...["Column", "Type", "Nulls"].map((name) => el("th", {scope: "col"}, name)))),
        el(
          "tbody",
          {},
          ...columns.map((field) =>
            el(
              "tr",
              {},
              el("td", {}, field.name),
              el("td", {}, typeName(field.type)),
              el("td", {}, field.nullable ? "yes" : "no"),
            ),
          ),
        ),
      ),
    ),
    el(
      "div",
      {class: "tools"},
      el("button", {type: "button", click: () => compose(id)}, "Query it"),
      el("button", {type: "button", click: () => deselect(id)}, "Close"),
    ),
  ].filter(Boolean);
}

function typeName(type) {
  if (typeof type !== "object" || type === null) return String(type);
  const inner = (type.fields || []).map((field) => typeName(field.type));
  return inner.length ? `${type.type}<${inner.join(", ")}>` : String(type.type);
}
