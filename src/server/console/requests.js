/* Requests, and the key for them: asked for when the server wants one, kept until the tab is closed. */
import {$, setText} from "./elements.js";

const MOST_TRIES = 6; /* of a request, while the server has too many of this key */
const AT_ONCE = 4;
const NEEDED = "This server asks for an API key. It is kept until this tab is closed.";
const UNKNOWN = "The server does not know this key. It asks for another one.";

let asking = null; /* the answer of the dialog, while it is open */
let refused = false; /* the user gave no key: nothing asks again by itself */

/* Whether a request would ask the user, or is about to. */
export const isWaiting = () => asking !== null || refused;
export function allowAsking() {
  refused = false;
}

export function askKey(reason) {
  if (asking) return asking;
  asking = new Promise((resolve) => {
    const dialog = $("key-dialog");
    setText($("key-said"), reason || "The key is kept until this tab is closed.");
    $("key").value = "";
    dialog.returnValue = "";
    dialog.addEventListener(
      "close",
      () => {
        const given = dialog.returnValue === "use" ? $("key").value.trim() : "";
        $("key").value = "";
        if (given) sessionStorage.setItem("glaive-key", given);
        if (dialog.returnValue === "forget") sessionStorage.removeItem("glaive-key");
        asking = null;
        refused = !given && dialog.returnValue !== "forget" && (refused || reason !== undefined);
        resolve(given !== "" || dialog.returnValue === "forget");
      },
      {once: true},
    );
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
      method: body === undefined ? "GET" : "POST",
      headers,
      signal,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    throw error.name === "AbortError" ? error : new Error("The server cannot be reached.");
  }
}

export async function call(path, body, signal) {
  for (let tries = 1; ;) {
    const key = sessionStorage.getItem("glaive-key");
    const answer = await send(path, body, key, signal);
    const told = await answer.json().catch((error) => {
      if (error.name === "AbortError") throw error;
      return {}; /* of something between here and the server */
    });
    if (answer.ok) return told;
    if (answer.status === 401) {
      if (sessionStorage.getItem("glaive-key") !== key) continue; /* another request has asked meanwhile */
      if (!refused && (await askKey(key ? UNKNOWN : NEEDED))) continue;
    }
    if (answer.status === 503 && told.code === 21 && tries < MOST_TRIES) {
      await new Promise((resolve) => setTimeout(resolve, 100 * 2 ** tries++));
      continue;
    }
    throw Object.assign(new Error(told.error || `the server answered ${answer.status}`), {status: answer.status});
  }
}

/* All pages of a list of names; those that the key may not see are none. */
export async function names(path, member, most) {
  const found = [],
    states = [];
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
export async function each(items, work) {
  const left = [...items];
  await Promise.all(
    Array.from({length: AT_ONCE}, async () => {
      while (left.length) await work(left.shift());
    }),
  );
}

export function setUpKey(done) {
  $("ask-key").addEventListener("click", async () => {
    if (await askKey()) done();
  });
  $("key-form").addEventListener("submit", (event) => {
    event.preventDefault();
    $("key-dialog").close("use");
  });
  $("key-forget").addEventListener("click", () => $("key-dialog").close("forget"));
  $("key-cancel").addEventListener("click", () => $("key-dialog").close(""));
}
