/*
 * The console: loads what there is, and looks again while the page is seen. What is known is in `state`; show* functions make
 * the page agree with it.
 */
import {loadCatalog, showCatalog} from "./catalog.js";
import {setUpCharts} from "./chart.js";
import {$, complain, count, say} from "./elements.js";
import {isRunning, jobEnded, loadJobs} from "./jobs.js";
import {setUpQuery} from "./query.js";
import {allowAsking, isWaiting, setUpKey} from "./requests.js";
import {state} from "./state.js";
import {loadStatuses} from "./views.js";

async function loadAll() {
  try {
    await Promise.all([lookAtAll(), loadJobs()]);
    complain(null);
    complain(null, $("lost"));
    const more = state.isCut ? "; there are more, which are not shown" : "";
    say(`${count(state.tables.length, "table")}, ${count(state.views.size, "view")}${more}`);
  } catch (error) {
    say("");
    complain(error);
  } finally {
    loading = null;
  }
}

let loading = null;
function load() {
  loading = loading || loadAll();
  return loading;
}

let timer = 0,
  watching = false,
  nextLoad = 0;

/* The next time when a twentieth of the time goes into it: there may be thousands of views. */
async function lookAtAll() {
  const start = Date.now();
  await loadCatalog();
  showCatalog();
  await loadStatuses();
  nextLoad = Date.now() + Math.max(15000, 20 * (Date.now() - start));
}

function watch(delay) {
  clearTimeout(timer);
  timer = setTimeout(tick, delay);
}

async function tick() {
  if (watching || document.hidden || isWaiting()) return watch(500);
  watching = true;
  let delay = 3000;
  try {
    const ended = await loadJobs();
    if (ended.length) say(jobEnded(ended.at(-1)));
    if (ended.length || Date.now() > nextLoad) await lookAtAll();
    complain(null, $("lost"));
    if (isRunning()) delay = 500;
  } catch (error) {
    complain(error, $("lost"));
  } finally {
    watching = false;
  }
  return watch(delay);
}

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
  $("reload").addEventListener("click", () => {
    allowAsking();
    load();
  });
  setUpKey(load);
  setUpQuery();
  setUpCharts();
  document.addEventListener("look", () => watch(0)); /* something was begun */
  load().finally(() => watch(3000));
}

setUp();
