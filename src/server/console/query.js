/* The box for SQL, and the table of what a query gives. */
import {setUpChart} from "./chart.js";
import {$, complain, count, el, setText} from "./elements.js";
import {call} from "./requests.js";
import {isNumber, sqlName} from "./state.js";

export function compose(id) {
  $("sql").value = `SELECT * FROM ${sqlName(id)} LIMIT ${$("limit").value}`;
  $("sql").focus();
}

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
    setText(
      $("query-said"),
      `${count(result.rows.length, "row")} in ${took} ms${result.more ? "; there are more, which are not shown" : ""}`,
    );
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

function showResult(result) {
  $("result").hidden = false;
  const numbers = result.columns.map((column) => isNumber(column.type));
  $("rows").replaceChildren(
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        ...result.columns.map((column, i) =>
          el("th", {scope: "col", class: numbers[i] ? "number" : null}, column.name, el("div", {class: "kind"}, column.type)),
        ),
      ),
    ),
    el(
      "tbody",
      {},
      ...result.rows.map((row) =>
        el(
          "tr",
          {},
          ...row.map((value, i) =>
            el("td", {class: value === null ? "null" : numbers[i] ? "number" : null}, value === null ? "null" : value),
          ),
        ),
      ),
    ),
  );
  setUpChart(result, numbers);
}

export function setUpQuery() {
  $("query").addEventListener("submit", (event) => {
    event.preventDefault();
    runQuery();
  });
  $("sql").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      runQuery();
    }
  });
  $("stop").addEventListener("click", () => running && running.abort());
}
