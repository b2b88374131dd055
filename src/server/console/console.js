/*
 * The console. Everything that comes from the server becomes text nodes or attributes that cannot act, never markup.
 * What is known is in `state`; show* functions make the page agree with it.
 */
"use strict";

const MOST_NAMESPACES = 300, MOST_TABLES = 3000, MOST_JOBS = 30, AT_ONCE = 4;
const MOST_TRIES = 6; /* of a request, while the server has too many of this key */
const RUNNING = new Set(["QUEUED", "IN_PROGRESS"]);
const state = {namespaces: [], tables: [], views: new Map(), jobs: new Map(), selected: null, result: null, cut: false};

/* ---- making elements ---- */

const $ = (id) => document.getElementById(id);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== undefined && value !== null && value !== false) node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}
const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/* Put nodes in the place of others; what had the focus and has the same data-key gets it again. */
function replace(parent, ...nodes) {
  const key = parent.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  parent.replaceChildren(...nodes);
  if (key !== undefined) {
    const again = [...parent.querySelectorAll("[data-key]")].find((node) => node.dataset.key === key);
    if (again) again.focus();
  }
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
const say = (text) => setText($("said"), text);
function complain(error, where = $("trouble")) {
  where.hidden = !error;
  setText(where, error ? error.message || String(error) : "");
}

const count = (n, one, many = one + "s") => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
const whole = (n) => (n === null || n === undefined ? "unknown" : n.toLocaleString("en"));
function when(ms) {
  return ms ? el("time", {datetime: new Date(ms).toISOString()}, new Date(ms).toLocaleString()) : el("span", {}, "never");
}

/* ---- names ---- */

const keyOf = (id) => id.join("$");
const pathOf = (id) => encodeURIComponent(id.length ? id.join("$") : "$");
const shown = (id) => id.join(".");
const sqlName = (id) => id.map((part) => `"${part.replaceAll('"', '""')}"`).join(".");

/* ---- requests ---- */

let asking = null; /* the answer of the dialog, while it is open */
let refused = false; /* the user gave no key: nothing asks again by itself */

function askKey(reason) {
  if (asking) return asking;
  asking = new Promise((resolve) => {
    const dialog = $("key-dialog");
    setText($("key-said"), reason || "The key is kept until this tab is closed.");
    $("key").value = "";
    dialog.returnValue = "";
    dialog.addEventListener("close", () => {
      const given = dialog.returnValue === "use" ? $("key").value.trim() : "";
      $("key").value = "";
      if (given) sessionStorage.setItem("glaive-key", given);
      if (dialog.returnValue === "forget") sessionStorage.removeItem("glaive-key");
      asking = null;
      refused = !given && dialog.returnValue !== "forget";
      resolve(given !== "" || dialog.returnValue === "forget");
    }, {once: true});
    dialog.showModal();
  });
  return asking;
}

/* What went wrong is told in the words of the server; a server that is not there has none. */
async function send(path, body, key, signal) {
  const headers = {accept: "application/json"};
  if (key) headers["x-api-key"] = key;
  if (body !== undefined) headers["content-type"] = "application/json";
  try {
    return await fetch(path, {
      method: body === undefined ? "GET" : "POST", headers, signal, cache: "no-store", credentials: "omit", redirect: "error",
      body: body === undefined ? undefined : JSON.stringify(body)});
  } catch (error) {
    throw error.name === "AbortError" ? error : new Error("The server cannot be reached.");
  }
}

async function call(path, body, signal) {
  for (let tries = 1; ;) {
    const key = sessionStorage.getItem("glaive-key");
    const answer = await send(path, body, key, signal);
    const told = await answer.json().catch(() => ({}));
    if (answer.ok) return told;
    if (answer.status === 401) {
      if (sessionStorage.getItem("glaive-key") !== key) continue; /* another request has asked meanwhile */
      if (!refused && await askKey(key ? "The server does not know this key. It asks for another one." : "This server asks for an API key. It is kept until this tab is closed.")) continue;
    }
    if (answer.status === 503 && told.code === 21 && tries < MOST_TRIES) {
      await new Promise((resolve) => setTimeout(resolve, 100 * 2 ** tries++));
      continue;
    }
    throw Object.assign(new Error(told.error || `the server answered ${answer.status}`), {status: answer.status});
  }
}

/* All pages of a list of names; those that the key may not see are none. */
async function names(path, member, most) {
  const found = [], states = [];
  const seen = new Set();
  for (let token = ""; ;) {
    let page;
    try {
      page = await call(`${path}?limit=1000${token ? "&page_token=" + encodeURIComponent(token) : ""}`);
    } catch (error) {
      if (error.status === 403 || error.status === 404) return {found, states};
      throw error;
    }
    found.push(...page[member]);
    states.push(...(page.states || page[member].map(() => "")));
    token = page.page_token;
    if (!token || seen.has(token)) return {found, states};
    if (found.length >= most) return {found: found.slice(0, most), states, cut: true};
    seen.add(token);
  }
}

/* Do something for each item, a few at once. */
async function each(items, work) {
  const left = [...items];
  await Promise.all(Array.from({length: AT_ONCE}, async () => {
    while (left.length) await work(left.shift());
  }));
}

/* ---- loading ---- */

async function loadCatalog() {
  const namespaces = [], tables = [], views = new Map();
  let level = [[]], cut = false;
  while (level.length) {
    const next = [];
    await each(level, async (id) => {
      const at = `v1/namespace/${pathOf(id)}`;
      const [below, here, made] = await Promise.all([
        names(`${at}/list`, "namespaces", MOST_NAMESPACES), names(`${at}/table/list`, "tables", MOST_TABLES),
        names(`${at}/materialized_view/list`, "views", MOST_TABLES)]);
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
  Object.assign(state, {namespaces, tables, cut, views: new Map([...views].sort((a, b) => order(a[1].id, b[1].id)))});
}

async function loadStatus(view) {
  try {
    view.status = await call(`v1/materialized_view/${pathOf(view.id)}/status`, {});
    view.trouble = null;
  } catch (error) {
    view.trouble = error.message;
  }
}

async function loadStatuses() {
  await each(state.views.values(), loadStatus);
  showViews();
  showLineage();
}

let loading = null;
function load() {
  loading = loading || (async () => {
    try {
      await loadCatalog();
      showCatalog();
      await Promise.all([loadStatuses(), loadJobs()]);
      complain(null);
      complain(null, $("lost"));
      say(`${count(state.tables.length, "table")}, ${count(state.views.size, "view")}${state.cut ? "; there are more, which are not shown" : ""}`);
    } catch (error) {
      say("");
      complain(error);
    } finally {
      loading = null;
    }
  })();
  return loading;
}

/* ---- freshness ---- */

function freshness(view) {
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
const sourceOf = (view) => (view.status && view.status.source ? [...(view.status.source_namespace || []), view.status.source] : null);

/* ---- catalog ---- */

const closed = new Set();

function entry(table) {
  const key = keyOf(table.id);
  return el("li", {},
    el("button", {type: "button", class: "link", "data-key": key, "aria-current": state.selected === key ? "true" : null, click: () => select(table.id)}, table.id.at(-1)),
    " ", el("span", {class: "kind"}, table.isView ? "view" : "table"),
    table.state && table.state !== "ok" && table.state !== "unfilled" ? el("span", {class: "kind bad"}, " " + table.state) : null);
}

function branch(id) {
  const inside = (other) => other.length === id.length + 1 && id.every((part, i) => other[i] === part);
  const items = [...state.namespaces.filter(inside).map((child) => {
    const key = keyOf(child);
    return el("li", {}, el("details", {open: !closed.has(key), toggle: (event) => (event.target.open ? closed.delete(key) : closed.add(key))},
      el("summary", {"data-key": "namespace " + key}, child.at(-1), " ", el("span", {class: "kind"}, "namespace")), branch(child)));
  }), ...state.tables.filter((table) => inside(table.id)).map(entry)];
  return items.length ? el("ul", {}, ...items) : el("p", {class: "kind"}, "empty");
}

function showCatalog() {
  const now = JSON.stringify([state.namespaces, state.tables, state.selected]);
  if ($("catalog").dataset.shown === now) return;
  $("catalog").dataset.shown = now;
  replace($("catalog"), branch([]));
}

/* ---- one table ---- */

async function select(id) {
  state.selected = keyOf(id);
  showCatalog();
  const isView = state.views.has(state.selected);
  const body = $("details-body");
  setText($("details-title"), shown(id));
  $("details").hidden = false;
  body.replaceChildren("Loading");
  try {
    const [table, rows, view] = await Promise.all([
      call(`v1/table/${pathOf(id)}/describe`, {}), call(`v1/table/${pathOf(id)}/count_rows`, {}),
      isView ? call(`v1/materialized_view/${pathOf(id)}/describe`, {}) : null]);
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
  const facts = [["Kind", view ? "materialized view" : "table"], ["Version", whole(table.version)], ["Rows", whole(rows)], ["Place", table.location || ""]];
  const columns = table.schema ? table.schema.fields : [];
  return [
    el("dl", {}, ...facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
    view && view.query ? el("pre", {"aria-label": "Definition", tabindex: 0}, view.query) : null,
    el("div", {class: "scroll", role: "region", "aria-label": "Columns", tabindex: 0}, el("table", {},
      el("thead", {}, el("tr", {}, ...["Column", "Type", "Nulls"].map((name) => el("th", {scope: "col"}, name)))),
      el("tbody", {}, ...columns.map((field) => el("tr", {}, el("td", {}, field.name), el("td", {}, typeName(field.type)), el("td", {}, field.nullable ? "yes" : "no")))))),
    el("div", {class: "tools"},
      el("button", {type: "button", click: () => compose(id)}, "Query it"),
      el("button", {type: "button", click: () => deselect(id)}, "Close"))].filter(Boolean);
}

function typeName(type) {
  if (typeof type !== "object" || type === null) return String(type);
  const inner = (type.fields || []).map((field) => typeName(field.type));
  return inner.length ? `${type.type}<${inner.join(", ")}>` : String(type.type);
}

function compose(id) {
  $("sql").value = `SELECT * FROM ${sqlName(id)} LIMIT ${$("limit").value}`;
  $("sql").focus();
}

/* ---- views ---- */

function viewRow(view) {
  const s = view.status || {}, fresh = freshness(view), source = sourceOf(view), name = shown(view.id), key = keyOf(view.id);
  return el("tr", {"data-view": key},
    el("th", {scope: "row"}, el("button", {type: "button", class: "link", "data-key": "select " + key, click: () => select(view.id)}, name)),
    el("td", {}, source ? shown(source) : ""),
    el("td", {}, el("span", {class: `badge ${fresh.kind}`, title: fresh.title}, fresh.text), fresh.title ? el("div", {class: "kind"}, fresh.title) : null),
    el("td", {class: "number"}, whole(s.versions_behind)),
    el("td", {class: "number", title: s.reason}, whole(s.rows_behind)),
    el("td", {class: "number"}, whole(s.rows)),
    el("td", {}, when(s.refreshed_at_ms)),
    el("td", {}, el("div", {class: "tools"},
      el("button", {type: "button", "data-key": "refresh " + key, "aria-label": `Refresh ${name}`, click: () => refresh(view, false)}, "Refresh"),
      el("button", {type: "button", "data-key": "rebuild " + key, "aria-label": `Rebuild ${name}`, click: () => refresh(view, true)}, "Rebuild"))));
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
      state.jobs.set(begun.job_id, {id: begun.job_id, type: "refresh_materialized_view", table: keyOf(view.id), state: "QUEUED", created: Date.now()});
    }
    showJobs();
    watch(0);
  } catch (error) {
    complain(error);
  }
}

/* ---- lineage ---- */

/* Nodes with the layer of each: sources of sources first. */
function graph() {
  const nodes = new Map(), edges = [];
  const tables = new Set(state.tables.map((table) => keyOf(table.id)));
  for (const view of state.views.values()) nodes.set(keyOf(view.id), {id: view.id, view});
  for (const view of state.views.values()) {
    const source = sourceOf(view);
    if (!source) continue;
    if (!nodes.has(keyOf(source))) nodes.set(keyOf(source), {id: source, isGone: !tables.has(keyOf(source)) && !state.cut});
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

const cutText = (text, most) => ([...text].length > most ? [...text].slice(0, most - 1).join("") + "\u2026" : text);
const WIDE = 190, HIGH = 48, GAP = 70, STEP = 62;

function drawNode(key, node) {
  const x = 8 + node.layer * (WIDE + GAP), y = 8 + node.row * STEP;
  const fresh = node.view ? freshness(node.view) : {kind: node.isGone ? "bad" : "", text: node.isGone ? "not found" : "table"};
  return svg("g", {class: node.view ? "node view" : "node", "data-node": key, transform: `translate(${x} ${y})`},
    svg("title", {}, `${shown(node.id)}: ${fresh.text}`),
    svg("rect", {width: WIDE, height: HIGH, rx: 5}),
    svg("text", {x: 10, y: 20}, cutText(shown(node.id), 25)),
    svg("text", {x: 10, y: 37, class: `small ${fresh.kind}`}, cutText(node.view ? `view, ${fresh.text}` : fresh.text, 30)));
}

function drawEdge(edge, nodes) {
  const a = nodes.get(edge.from), b = nodes.get(edge.to);
  const x1 = 8 + a.layer * (WIDE + GAP) + WIDE, y1 = 8 + a.row * STEP + HIGH / 2;
  const x2 = 8 + b.layer * (WIDE + GAP), y2 = 8 + b.row * STEP + HIGH / 2;
  return svg("g", {"data-from": edge.from, "data-to": edge.to},
    svg("path", {class: "link", d: `M${x1} ${y1}C${x1 + GAP / 2} ${y1} ${x2 - GAP / 2} ${y2} ${x2 - 8} ${y2}`}),
    svg("path", {class: "head", d: `M${x2} ${y2}l-9 -4.5v9z`}));
}

function showLineage() {
  const {nodes, edges} = graph();
  const now = JSON.stringify([...nodes]);
  $("lineage").hidden = edges.length === 0;
  if ($("picture").dataset.shown === now) return;
  $("picture").dataset.shown = now;
  const rows = place({nodes, edges});
  const layers = 1 + Math.max(0, ...[...nodes.values()].map((node) => node.layer));
  const width = 16 + layers * WIDE + (layers - 1) * GAP, height = 16 + Math.max(0, rows - 1) * STEP + HIGH;
  $("picture").replaceChildren(svg("svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `Lineage: ${count(edges.length, "view")} and where the rows come from; the table below says the same`},
  ...edges.map((edge) => drawEdge(edge, nodes)), ...[...nodes].map(([key, node]) => drawNode(key, node))));
  $("edges").tBodies[0].replaceChildren(...edges.map((edge) => el("tr", {},
    el("td", {}, shown(nodes.get(edge.from).id)), el("td", {}, shown(edge.view.id)), el("td", {}, freshness(edge.view).text))));
}

/* ---- jobs ---- */

const VERBS = {create_materialized_view: "create", refresh_materialized_view: "refresh", drop_materialized_view: "drop"};
const STATES = {QUEUED: "queued", IN_PROGRESS: "running", DONE: "done", FAILED: "failed", CANCELLED: "cancelled"};
const verb = (job) => VERBS[job.type] || job.type || "job";
const jobTarget = (job) => (job.table || "").split("$").join(".");

function outcome(job) {
  if (job.failure) return `${job.failure.message || "failed"}${job.failure.retryable ? " (may be tried again)" : ""}`;
  const r = job.result;
  if (!r) return "";
  if (r.mode === "no_op") return "nothing to do";
  return [r.mode, typeof r.rows_written === "number" ? `${count(r.rows_written, "row")} written` : "", r.rows_removed > 0 ? `${count(r.rows_removed, "row")} removed` : ""].filter(Boolean).join(", ");
}

function takeJob(entry) {
  const known = state.jobs.get(entry.job_id) || {};
  const job = {...known, id: entry.job_id, type: entry.job_type, table: entry.table, state: entry.state, created: entry.created_at_millis};
  state.jobs.set(job.id, job);
  return job;
}

async function describeJob(job) {
  const told = await call("v1/jobs/describe", {job_id: job.id});
  const ended = RUNNING.has(job.shownState) && !RUNNING.has(told.job_state);
  Object.assign(job, {state: told.job_state, progress: told.progress, result: told.result, failure: told.failure, isKnown: !RUNNING.has(told.job_state)});
  job.shownState = job.state;
  return ended;
}

/* @return whether a job ended: what it worked on has changed then. */
async function loadJobs() {
  const list = await call("v1/jobs/list", {limit: MOST_JOBS});
  const listed = list.jobs.map(takeJob);
  const ids = new Set(listed.map((job) => job.id));
  for (const id of state.jobs.keys()) if (!ids.has(id)) state.jobs.delete(id);
  const ended = [];
  await each(listed.filter((job) => !job.isKnown), async (job) => {
    job.shownState = job.shownState || "QUEUED";
    if (await describeJob(job)) ended.push(job);
  });
  showJobs();
  return ended;
}

const rowsOfJobs = new Map();

function jobRow(job) {
  const parts = {state: el("span", {class: "badge"}), bar: el("progress", {"aria-label": `Progress of ${verb(job)} of ${jobTarget(job)}`}), amount: el("span", {class: "kind"}), outcome: el("td")};
  parts.cancel = el("button", {type: "button", "aria-label": `Cancel ${verb(job)} of ${jobTarget(job)}`, click: () => cancel(job.id)}, "Cancel");
  parts.row = el("tr", {"data-job": job.id}, el("th", {scope: "row"}, verb(job)), el("td", {}, jobTarget(job)), el("td", {}, parts.state),
    el("td", {}, parts.bar, " ", parts.amount), el("td", {}, when(job.created)), parts.outcome, el("td", {}, parts.cancel));
  return parts;
}

function updateJob(job) {
  const parts = rowsOfJobs.get(job.id) || jobRow(job);
  rowsOfJobs.set(job.id, parts);
  const runs = RUNNING.has(job.state), p = job.progress || {done: 0, total: 0};
  setText(parts.state, STATES[job.state] || job.state);
  parts.state.className = `badge ${{DONE: "good", FAILED: "bad", CANCELLED: "stale"}[job.state] || ""}`;
  parts.bar.hidden = !runs;
  if (p.total > 0) {
    parts.bar.max = p.total;
    parts.bar.value = p.done;
  } else {
    parts.bar.removeAttribute("value");
  }
  setText(parts.amount, p.total > 0 ? `${whole(p.done)} of ${whole(p.total)}` : "");
  setText(parts.outcome, outcome(job));
  if (!runs && document.activeElement === parts.cancel) $("jobs-title").parentElement.querySelector(".scroll").focus();
  parts.cancel.hidden = !runs;
  parts.cancel.disabled = Boolean(job.isCancelled) && runs;
  return parts.row;
}

function showJobs() {
  const jobs = [...state.jobs.values()].sort((a, b) => b.created - a.created).slice(0, MOST_JOBS);
  const body = $("jobs").tBodies[0], rows = jobs.map(updateJob);
  for (const id of rowsOfJobs.keys()) if (!jobs.some((job) => job.id === id)) rowsOfJobs.delete(id);
  $("no-jobs").hidden = rows.length > 0;
  /* Rows that stand where they should are not touched: a click may be under way. */
  rows.forEach((row, i) => { if (body.rows[i] !== row) body.insertBefore(row, body.rows[i] || null); });
  while (body.rows.length > rows.length) body.lastChild.remove();
}

async function cancel(id) {
  const job = state.jobs.get(id);
  if (!job) return;
  job.isCancelled = true;
  showJobs();
  try {
    await call("v1/jobs/cancel", {job_id: id});
    say(`Cancelling ${verb(job)} of ${jobTarget(job)}`);
  } catch (error) {
    job.isCancelled = false;
    showJobs();
    complain(error);
  }
  watch(0);
}

/* ---- looking again ---- */

let timer = 0, watching = false, loadedAt = 0;

function watch(delay) {
  clearTimeout(timer);
  timer = setTimeout(tick, delay);
}

async function tick() {
  if (watching || document.hidden || asking || refused) return watch(500);
  watching = true;
  let delay = 3000;
  try {
    const ended = await loadJobs();
    if (ended.length) {
      const last = ended.at(-1);
      say(`${verb(last)} of ${jobTarget(last)}: ${STATES[last.state] || last.state}${outcome(last) ? ", " + outcome(last) : ""}`);
      await loadCatalog();
      showCatalog();
      await loadStatuses();
    } else if (Date.now() - loadedAt > 15000) {
      loadedAt = Date.now();
      await loadCatalog();
      showCatalog();
      await loadStatuses();
    }
    complain(null, $("lost"));
    if ([...state.jobs.values()].some((job) => RUNNING.has(job.state))) delay = 500;
  } catch (error) {
    complain(error, $("lost"));
  } finally {
    watching = false;
  }
  return watch(delay);
}

/* ---- queries ---- */

let running = null;

async function runQuery() {
  const sql = $("sql").value.trim().replace(/;$/, "");
  if (running || !sql) return;
  running = new AbortController();
  const start = performance.now();
  $("stop").disabled = false;
  complain(null, $("query-trouble"));
  setText($("query-said"), "Running");
  try {
    const result = await call("v1/query", {query: sql, limit: Number($("limit").value)}, running.signal);
    const took = Math.round(performance.now() - start);
    setText($("query-said"), `${count(result.rows.length, "row")} in ${took} ms${result.more ? "; there are more, which are not shown" : ""}`);
    showResult(result);
  } catch (error) {
    setText($("query-said"), "");
    $("result").hidden = true;
    complain(error.name === "AbortError" ? new Error("The query was stopped.") : error, $("query-trouble"));
  } finally {
    running = null;
    if (document.activeElement === $("stop")) $("run").focus();
    $("stop").disabled = true;
  }
}

const isNumber = (type) => /^(u?int\d+|half\w*|float\w*|double|decimal.*)$/.test(type);
const isTime = (type) => /^(date|timestamp)/.test(type);

function showResult(result) {
  state.result = result;
  $("result").hidden = false;
  const numbers = result.columns.map((column) => isNumber(column.type));
  $("rows").replaceChildren(
    el("thead", {}, el("tr", {}, ...result.columns.map((column, i) => el("th", {scope: "col", class: numbers[i] ? "number" : null}, column.name, el("div", {class: "kind"}, column.type))))),
    el("tbody", {}, ...result.rows.map((row) => el("tr", {}, ...row.map((value, i) => el("td", {class: value === null ? "null" : numbers[i] ? "number" : null}, value === null ? "null" : value))))));
  setUpChart(result, numbers);
}

function setUpChart(result, numbers) {
  const y = numbers.map((is, i) => (is ? i : -1)).filter((i) => i >= 0);
  const can = y.length > 0 && result.rows.length > 1;
  $("chart-tools").hidden = !can;
  const option = (i) => el("option", {value: i}, result.columns[i].name);
  $("chart-x").replaceChildren(...result.columns.map((_, i) => option(i)));
  $("chart-y").replaceChildren(...y.map(option));
  if (can) {
    $("chart-x").value = "0";
    $("chart-y").value = String(y.find((i) => i !== 0) ?? y[0]);
    const type = result.columns[0].type;
    $("chart-kind").value = isNumber(type) || isTime(type) ? "line" : "bar";
  }
  showChart();
}

/* ---- charts ---- */

const CHART = {width: 760, height: 300, left: 76, right: 16, top: 14, bottom: 52};

/* About n round numbers that cover what lies between two. */
function ticks(low, high, n) {
  const rough = (high - low) / n || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough);
  const from = Math.floor(low / step), to = Math.ceil(high / step);
  return Array.from({length: to - from + 1}, (_, i) => (from + i) * step);
}
const short = (n) => (Math.abs(n) >= 1e15 || (n !== 0 && Math.abs(n) < 1e-4) ? n.toExponential(1) : Number(n.toPrecision(12)).toLocaleString("en", {maximumFractionDigits: 6}));

function timeOf(text) {
  const bare = /^\d{4}-\d\d-\d\dT[\d:.]*$/.test(text.replace(" ", "T"));
  return Date.parse(bare ? text.replace(" ", "T") + "Z" : text);
}

function points(result, x, y) {
  const {type} = result.columns[x];
  const scaled = isNumber(type) || isTime(type);
  const all = result.rows.filter((row) => row[y] !== null && row[x] !== null).map((row) =>
    ({label: row[x], x: isTime(type) ? timeOf(row[x]) : Number(row[x]), y: Number(row[y])}));
  return all.filter((p) => Number.isFinite(p.y) && (!scaled || Number.isFinite(p.x)));
}

function frame(low, high, up, name) {
  const lines = ticks(low, high, 5).map((value) => svg("g", {},
    svg("line", {class: "grid", x1: CHART.left, x2: CHART.width - CHART.right, y1: up(value), y2: up(value)}),
    svg("text", {class: "small", x: CHART.left - 8, y: up(value) + 4, "text-anchor": "end"}, short(value))));
  return [...lines, svg("line", {class: "axis", x1: CHART.left, x2: CHART.width - CHART.right, y1: up(Math.max(low, Math.min(high, 0))), y2: up(Math.max(low, Math.min(high, 0)))}),
    svg("text", {class: "small", x: CHART.width / 2, y: CHART.height - 6, "text-anchor": "middle"}, cutText(name, 60))];
}

function drawBars(data, across, up, zero) {
  const step = (CHART.width - CHART.left - CHART.right) / data.length, every = Math.ceil(data.length / 10);
  return data.flatMap((p, i) => {
    const x = CHART.left + i * step, y = Math.min(up(p.y), zero);
    return [svg("rect", {class: "bar", x: x + step * 0.12, width: step * 0.76, y, height: Math.max(1, Math.abs(up(p.y) - zero))}, svg("title", {}, `${p.label}: ${p.y}`)),
      i % every === 0 ? svg("text", {class: "small", x: x + step / 2, y: CHART.height - 30, "text-anchor": "middle"}, cutText(p.label, Math.max(3, Math.floor(step * every / 7)))) : null];
  });
}

function drawLine(data, across, up, isScaled) {
  const sorted = isScaled ? [...data].sort((a, b) => a.x - b.x) : data;
  const xs = sorted.map((p, i) => (isScaled ? p.x : i));
  const low = Math.min(...xs), width = Math.max(...xs) - low || 1;
  const at = (x) => CHART.left + ((x - low) / width) * (CHART.width - CHART.left - CHART.right);
  const every = Math.ceil(sorted.length / 8);
  return [svg("path", {class: "curve", d: sorted.map((p, i) => `${i ? "L" : "M"}${at(xs[i]).toFixed(1)} ${up(p.y).toFixed(1)}`).join("")}),
    ...sorted.flatMap((p, i) => [
      sorted.length <= 200 ? svg("circle", {class: "dot", r: 2.6, cx: at(xs[i]), cy: up(p.y)}, svg("title", {}, `${p.label}: ${p.y}`)) : null,
      i % every === 0 ? svg("text", {class: "small", x: at(xs[i]), y: CHART.height - 30, "text-anchor": i === 0 ? "start" : "middle"}, cutText(p.label, 12)) : null])];
}

function showChart() {
  const result = state.result, kind = $("chart-kind").value;
  const wanted = result && kind && !$("chart-tools").hidden;
  $("chart").replaceChildren();
  setText($("chart-said"), "");
  if (!wanted) return;
  const x = Number($("chart-x").value), y = Number($("chart-y").value), type = result.columns[x].type;
  const all = points(result, x, y), data = kind === "bar" ? all.slice(0, 60) : all;
  if (data.length === 0) return setText($("chart-said"), "There are no numbers to draw.");
  const values = data.map((p) => p.y);
  const scale = ticks(Math.min(0, ...values), Math.max(0, ...values), 5), low = scale[0], high = scale.at(-1);
  const up = (value) => CHART.top + ((high - value) / (high - low)) * (CHART.height - CHART.top - CHART.bottom);
  const names = [result.columns[x].name, result.columns[y].name];
  const label = `${kind === "bar" ? "Bars" : "Line"}: ${names[1]} by ${names[0]}, ${count(data.length, "point")}, from ${short(Math.min(...values))} to ${short(Math.max(...values))}`;
  $("chart").append(svg("svg", {width: CHART.width, height: CHART.height, viewBox: `0 0 ${CHART.width} ${CHART.height}`, role: "img", "aria-label": label},
    ...frame(low, high, up, `${names[1]} by ${names[0]}`),
    ...(kind === "bar" ? drawBars(data, x, up, up(0)) : drawLine(data, x, up, isNumber(type) || isTime(type)))));
  if (data.length < all.length) setText($("chart-said"), `The first ${data.length} of ${all.length} values are drawn.`);
}

/* ---- set-up ---- */

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

function setUp() {
  const theme = ["light", "dark"].includes(localStorage.getItem("glaive-theme")) ? localStorage.getItem("glaive-theme") : "";
  setTheme(theme);
  $("theme").value = theme;
  $("theme").addEventListener("change", () => {
    setTheme($("theme").value);
    localStorage.setItem("glaive-theme", $("theme").value);
  });
  $("reload").addEventListener("click", () => { refused = false; load(); });
  $("ask-key").addEventListener("click", async () => { if (await askKey()) load(); });
  $("key-form").addEventListener("submit", (event) => { event.preventDefault(); $("key-dialog").close("use"); });
  $("key-forget").addEventListener("click", () => $("key-dialog").close("forget"));
  $("key-cancel").addEventListener("click", () => $("key-dialog").close(""));
  $("query").addEventListener("submit", (event) => { event.preventDefault(); runQuery(); });
  $("sql").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      runQuery();
    }
  });
  $("stop").addEventListener("click", () => running && running.abort());
  for (const id of ["chart-kind", "chart-x", "chart-y"]) $(id).addEventListener("change", showChart);
  loadedAt = Date.now();
  load().finally(() => watch(3000));
}

setUp();
