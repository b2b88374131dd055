/* Jobs: how they stand, and cancelling them. */
import {$, complain, count, el, say, setText, when, whole} from "./elements.js";
import {call, each} from "./requests.js";
import {state} from "./state.js";

const MOST_JOBS = 30;
const RUNNING = new Set(["QUEUED", "IN_PROGRESS"]);
const VERBS = {create_materialized_view: "create", refresh_materialized_view: "refresh", drop_materialized_view: "drop", compact_table: "compact", cleanup_table: "clean up", import: "import"};
const STATES = {QUEUED: "queued", IN_PROGRESS: "running", DONE: "done", FAILED: "failed", CANCELLED: "cancelled"};
const verb = (job) => VERBS[job.type] || job.type || "job";
const jobTarget = (job) => (job.table || "").split("$").join(".");

function outcome(job) {
  if (job.failure) return `${job.failure.message || "failed"}${job.failure.retryable ? " (may be tried again)" : ""}`;
  const r = job.result;
  if (!r) return "";
  if (r.mode === "no_op") return "nothing to do";
  return [
    r.mode,
    typeof r.rows_written === "number" ? `${count(r.rows_written, "row")} written` : "",
    r.rows_removed > 0 ? `${count(r.rows_removed, "row")} removed` : "",
  ]
    .filter(Boolean)
    .join(", ");
}

function takeJob(entry) {
  const known = state.jobs.get(entry.job_id) || {};
  const job = {
    ...known,
    id: entry.job_id,
    type: entry.job_type,
    table: entry.table,
    state: entry.state,
    created: entry.created_at_millis,
  };
  state.jobs.set(job.id, job);
  return job;
}

async function describeJob(job) {
  const told = await call("v1/jobs/describe", {job_id: job.id});
  const ended = RUNNING.has(job.shownState) && !RUNNING.has(told.job_state);
  Object.assign(job, {
    state: told.job_state,
    progress: told.progress,
    result: told.result,
    failure: told.failure,
    isKnown: !RUNNING.has(told.job_state),
  });
  job.shownState = job.state;
  return ended;
}

/* @return whether a job ended: what it worked on has changed then. */
export async function loadJobs() {
  const list = await call("v1/jobs/list", {limit: MOST_JOBS});
  const listed = list.jobs.map(takeJob);
  const ids = new Set(listed.map((job) => job.id));
  for (const id of state.jobs.keys()) if (!ids.has(id)) state.jobs.delete(id);
  const ended = [];
  await each(
    listed.filter((job) => !job.isKnown),
    async (job) => {
      job.shownState = job.shownState || "QUEUED";
      if (await describeJob(job)) ended.push(job);
    },
  );
  showJobs();
  return ended;
}

const rowsOfJobs = new Map();

function jobRow(job) {
  const parts = {
    state: el("span", {class: "badge"}),
    bar: el("progress", {"aria-label": `Progress of ${verb(job)} of ${jobTarget(job)}`}),
    amount: el("span", {class: "kind"}),
    outcome: el("td"),
  };
  parts.cancel = el(
    "button",
    {type: "button", "aria-label": `Cancel ${verb(job)} of ${jobTarget(job)}`, click: () => cancel(job.id)},
    "Cancel",
  );
  parts.row = el(
    "tr",
    {"data-job": job.id},
    el("th", {scope: "row"}, verb(job)),
    el("td", {}, jobTarget(job)),
    el("td", {}, parts.state),
    el("td", {}, parts.bar, " ", parts.amount),
    el("td", {}, when(job.created)),
    parts.outcome,
    el("td", {}, parts.cancel),
  );
  return parts;
}

function updateJob(job) {
  const parts = rowsOfJobs.get(job.id) || jobRow(job);
  rowsOfJobs.set(job.id, parts);
  const runs = RUNNING.has(job.state),
    p = job.progress || {done: 0, total: 0};
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

export function showJobs() {
  const jobs = [...state.jobs.values()].sort((a, b) => b.created - a.created).slice(0, MOST_JOBS);
  const body = $("jobs").tBodies[0],
    rows = jobs.map(updateJob);
  for (const id of rowsOfJobs.keys()) if (!jobs.some((job) => job.id === id)) rowsOfJobs.delete(id);
  $("no-jobs").hidden = rows.length > 0;
  /* Rows that stand where they should are not touched: a click may be under way. */
  rows.forEach((row, i) => {
    if (body.rows[i] !== row) body.insertBefore(row, body.rows[i] || null);
  });
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
  document.dispatchEvent(new Event("look"));
}

export const isRunning = () => [...state.jobs.values()].some((job) => RUNNING.has(job.state));
export function jobEnded(job) {
  return `${verb(job)} of ${jobTarget(job)}: ${STATES[job.state] || job.state}${outcome(job) ? ", " + outcome(job) : ""}`;
}
