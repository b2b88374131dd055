/* Making parts of the page. Texts become text nodes or attributes that cannot act, never markup. */
export const $ = (id) => document.getElementById(id);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== undefined && value !== null && value !== false)
      node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}
export const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/* Put nodes in the place of others; what had the focus and has the same data-key gets it again. */
export function replace(parent, ...nodes) {
  const key = parent.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  parent.replaceChildren(...nodes);
  if (key !== undefined) {
    const again = [...parent.querySelectorAll("[data-key]")].find((node) => node.dataset.key === key);
    if (again) again.focus();
  }
}

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
export const say = (text) => setText($("said"), text);
export function complain(error, where = $("trouble")) {
  where.hidden = !error;
  setText(where, error ? error.message || String(error) : "");
}

export const count = (n, one, many = one + "s") => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
export const whole = (n) => (n === null || n === undefined ? "unknown" : n.toLocaleString("en"));
export function when(ms) {
  return ms ? el("time", {datetime: new Date(ms).toISOString()}, new Date(ms).toLocaleString()) : el("span", {}, "never");
}

export const cutText = (text, most) => ([...text].length > most ? [...text].slice(0, most - 1).join("") + "\u2026" : text);
