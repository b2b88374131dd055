/* A chart of a result: bars or a line. */
import {$, count, cutText, el, setText, svg} from "./elements.js";
import {isNumber, isTime} from "./state.js";

let shownResult = null;

export function setUpChart(result, numbers) {
  shownResult = result;
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

const CHART = {width: 760, height: 300, left: 76, right: 16, top: 14, bottom: 52};

/* About n round numbers that cover what lies between two. */
function ticks(low, high, n) {
  const rough = (high - low) / n || 1,
    power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough);
  const from = Math.floor(low / step),
    to = Math.ceil(high / step);
  return Array.from({length: to - from + 1}, (_, i) => (from + i) * step);
}
const short = (n) =>
  Math.abs(n) >= 1e15 || (n !== 0 && Math.abs(n) < 1e-4)
    ? n.toExponential(1)
    : Number(n.toPrecision(12)).toLocaleString("en", {maximumFractionDigits: 6});

function timeOf(text) {
  const bare = /^\d{4}-\d\d-\d\dT[\d:.]*$/.test(text.replace(" ", "T"));
  return Date.parse(bare ? text.replace(" ", "T") + "Z" : text);
}

function points(result, x, y) {
  const {type} = result.columns[x];
  const scaled = isNumber(type) || isTime(type);
  const all = result.rows
    .filter((row) => row[y] !== null && row[x] !== null)
    .map((row) => ({label: row[x], x: isTime(type) ? timeOf(row[x]) : Number(row[x]), y: Number(row[y])}));
  return all.filter((p) => Number.isFinite(p.y) && (!scaled || Number.isFinite(p.x)));
}

function frame(low, high, up, name) {
  const lines = ticks(low, high, 5).map((value) =>
    svg(
      "g",
      {},
      svg("line", {class: "grid", x1: CHART.left, x2: CHART.width - CHART.right, y1: up(value), y2: up(value)}),
      svg("text", {class: "small", x: CHART.left - 8, y: up(value) + 4, "text-anchor": "end"}, short(value)),
    ),
  );
  return [
    ...lines,
    svg("line", {
      class: "axis",
      x1: CHART.left,
      x2: CHART.width - CHART.right,
      y1: up(Math.max(low, Math.min(high, 0))),
      y2: up(Math.max(low, Math.min(high, 0))),
    }),
    svg("text", {class: "small", x: CHART.width / 2, y: CHART.height - 6, "text-anchor": "middle"}, cutText(name, 60)),
  ];
}

function drawBars(data, across, up, zero) {
  const step = (CHART.width - CHART.left - CHART.right) / data.length,
    every = Math.ceil(data.length / 10);
  return data.flatMap((p, i) => {
    const x = CHART.left + i * step,
      y = Math.min(up(p.y), zero);
    return [
      svg(
        "rect",
        {class: "bar", x: x + step * 0.12, width: step * 0.76, y, height: Math.max(1, Math.abs(up(p.y) - zero))},
        svg("title", {}, `${p.label}: ${p.y}`),
      ),
      i % every === 0
        ? svg(
            "text",
            {class: "small", x: x + step / 2, y: CHART.height - 30, "text-anchor": "middle"},
            cutText(p.label, Math.max(3, Math.floor((step * every) / 7))),
          )
        : null,
    ];
  });
}

function drawLine(data, across, up, isScaled) {
  const sorted = isScaled ? [...data].sort((a, b) => a.x - b.x) : data;
  const xs = sorted.map((p, i) => (isScaled ? p.x : i));
  const low = Math.min(...xs),
    width = Math.max(...xs) - low || 1;
  const at = (x) => CHART.left + ((x - low) / width) * (CHART.width - CHART.left - CHART.right);
  const every = Math.ceil(sorted.length / 8);
  return [
    svg("path", {
      class: "curve",
      d: sorted.map((p, i) => `${i ? "L" : "M"}${at(xs[i]).toFixed(1)} ${up(p.y).toFixed(1)}`).join(""),
    }),
    ...sorted.flatMap((p, i) => [
      sorted.length <= 200
        ? svg("circle", {class: "dot", r: 2.6, cx: at(xs[i]), cy: up(p.y)}, svg("title", {}, `${p.label}: ${p.y}`))
        : null,
      i % every === 0
        ? svg(
            "text",
            {class: "small", x: at(xs[i]), y: CHART.height - 30, "text-anchor": i === 0 ? "start" : "middle"},
            cutText(p.label, 12),
          )
        : null,
    ]),
  ];
}

function showChart() {
  const result = shownResult,
    kind = $("chart-kind").value;
  const wanted = result && kind && !$("chart-tools").hidden;
  $("chart").replaceChildren();
  setText($("chart-said"), "");
  if (!wanted) return;
  const x = Number($("chart-x").value),
    y = Number($("chart-y").value),
    type = result.columns[x].type;
  const all = points(result, x, y),
    data = kind === "bar" ? all.slice(0, 60) : all;
  if (data.length === 0) return setText($("chart-said"), "There are no numbers to draw.");
  const values = data.map((p) => p.y);
  const scale = ticks(Math.min(0, ...values), Math.max(0, ...values), 5),
    low = scale[0],
    high = scale.at(-1);
  const up = (value) => CHART.top + ((high - value) / (high - low)) * (CHART.height - CHART.top - CHART.bottom);
  const names = [result.columns[x].name, result.columns[y].name];
  const label = `${kind === "bar" ? "Bars" : "Line"}: ${names[1]} by ${names[0]}, ${count(data.length, "point")}, from ${short(Math.min(...values))} to ${short(Math.max(...values))}`;
  $("chart").append(
    svg(
      "svg",
      {width: CHART.width, height: CHART.height, viewBox: `0 0 ${CHART.width} ${CHART.height}`, role: "img", "aria-label": label},
      ...frame(low, high, up, `${names[1]} by ${names[0]}`),
      ...(kind === "bar" ? drawBars(data, x, up, up(0)) : drawLine(data, x, up, isNumber(type) || isTime(type))),
    ),
  );
  if (data.length < all.length) setText($("chart-said"), `The first ${data.length} of ${all.length} values are drawn.`);
}

export function setUpCharts() {
  for (const id of ["chart-kind", "chart-x", "chart-y"]) $(id).addEventListener("change", showChart);
}
