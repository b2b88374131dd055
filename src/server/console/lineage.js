/* Which view comes from where, as a picture and as a table. */
import {$, count, cutText, el, svg} from "./elements.js";
import {freshness, keyOf, shown, sourceOf, state} from "./state.js";

const WIDE = 190 /* of a box */,
  HIGH = 48,
  GAP = 70 /* between columns */,
  STEP = 62; /* from row to row */

/* Nodes with the layer of each: sources of sources first. */
function graph() {
  const nodes = new Map(),
    edges = [];
  const tables = new Set(state.tables.map((table) => keyOf(table.id)));
  for (const view of state.views.values()) nodes.set(keyOf(view.id), {id: view.id, view});
  for (const view of state.views.values()) {
    const source = sourceOf(view);
    if (!source) continue;
    if (!nodes.has(keyOf(source))) nodes.set(keyOf(source), {id: source, isGone: !tables.has(keyOf(source)) && !state.isCut});
    edges.push({from: keyOf(source), to: keyOf(view.id), view});
  }
  const above = new Map(edges.map((edge) => [edge.to, edge.from]));
  for (const [key, node] of nodes) {
    node.layer = 0;
    const passed = new Set([key]);
    for (let at = above.get(key); at !== undefined && !passed.has(at); at = above.get(at)) {
      passed.add(at);
      node.layer++;
    }
  }
  return {nodes, edges};
}

/* A tree: each view has one source. Leaves get rows of their own, others stand amid what comes from them. */
function place({nodes, edges}) {
  const below = new Map();
  for (const edge of edges) below.set(edge.from, [...(below.get(edge.from) || []), edge.to]);
  let row = 0;
  const put = (key) => {
    const node = nodes.get(key);
    if (node.row !== undefined) return node.row;
    node.row = row; /* ends a circle */
    const rows = (below.get(key) || []).map(put);
    node.row = rows.length ? (rows[0] + rows.at(-1)) / 2 : row++;
    return node.row;
  };
  for (const [key, node] of nodes) if (node.layer === 0) put(key);
  for (const key of nodes.keys()) put(key);
  return row;
}

function drawNode(key, node) {
  const x = 8 + node.layer * (WIDE + GAP),
    y = 8 + node.row * STEP;
  const fresh = node.view ? freshness(node.view) : {kind: node.isGone ? "bad" : "", text: node.isGone ? "not found" : "table"};
  return svg(
    "g",
    {class: node.view ? "node view" : "node", "data-node": key, transform: `translate(${x} ${y})`},
    svg("title", {}, `${shown(node.id)}: ${fresh.text}`),
    svg("rect", {width: WIDE, height: HIGH, rx: 5}),
    svg("text", {x: 10, y: 20}, cutText(shown(node.id), 25)),
    svg("text", {x: 10, y: 37, class: `small ${fresh.kind}`}, cutText(node.view ? `view, ${fresh.text}` : fresh.text, 30)),
  );
}

function drawEdge(edge, nodes) {
  const a = nodes.get(edge.from),
    b = nodes.get(edge.to);
  const x1 = 8 + a.layer * (WIDE + GAP) + WIDE,
    y1 = 8 + a.row * STEP + HIGH / 2;
  const x2 = 8 + b.layer * (WIDE + GAP),
    y2 = 8 + b.row * STEP + HIGH / 2;
  return svg(
    "g",
    {"data-from": edge.from, "data-to": edge.to},
    svg("path", {class: "link", d: `M${x1} ${y1}C${x1 + GAP / 2} ${y1} ${x2 - GAP / 2} ${y2} ${x2 - 8} ${y2}`}),
    svg("path", {class: "head", d: `M${x2} ${y2}l-9 -4.5v9z`}),
  );
}

export function showLineage() {
  const {nodes, edges} = graph();
  const now = JSON.stringify([...nodes]);
  $("lineage").hidden = edges.length === 0;
  if ($("picture").dataset.shown === now) return;
  $("picture").dataset.shown = now;
  const rows = place({nodes, edges});
  const layers = 1 + Math.max(0, ...[...nodes.values()].map((node) => node.layer));
  const width = 16 + layers * WIDE + (layers - 1) * GAP,
    height = 16 + Math.max(0, rows - 1) * STEP + HIGH;
  $("picture").replaceChildren(
    svg(
      "svg",
      {
        width,
        height,
        viewBox: `0 0 ${width} ${height}`,
        role: "img",
        "aria-label": `Lineage: ${count(edges.length, "view")} and where the rows come from; the table below says the same`,
      },
      ...edges.map((edge) => drawEdge(edge, nodes)),
      ...[...nodes].map(([key, node]) => drawNode(key, node)),
    ),
  );
  $("edges").tBodies[0].replaceChildren(
    ...edges.map((edge) =>
      el(
        "tr",
        {},
        el("td", {}, shown(nodes.get(edge.from).id)),
        el("td", {}, shown(edge.view.id)),
        el("td", {}, freshness(edge.view).text),
      ),
    ),
  );
}
