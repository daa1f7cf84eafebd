// Small helpers for making elements.

/**
 * Makes an element. Properties that start with "on" are listeners; "aria-..." and "data-..." become attributes.
 * @param {string} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {any}
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.includes("-") || name === "role" || name === "for") element.setAttribute(name, String(value));
    else /** @type {any} */ (element)[name] = value;
  }
  element.append(...children.filter(child => child !== null && child !== undefined && child !== false).map(child => /** @type {Node | string} */ (child)));
  return element;
}

/** @param {string} id @returns {any} */
export const byId = id => document.getElementById(id);

const PATHS = {
  undo: "M4 7h6a3.5 3.5 0 0 1 0 7H6M4 7l3-3M4 7l3 3", redo: "M12 7H6a3.5 3.5 0 0 0 0 7h4M12 7L9 4M12 7L9 10",
  play: "f:M5 3l8 5-8 5z", pause: "f:M4 3h3v10H4zM9 3h3v10H9z", first: "f:M4 3h2v10H4zM13 3v10L6.5 8z", last: "f:M10 3h2v10h-2zM3 3v10l6.5-5z",
  back: "M10 3L5 8l5 5", forward: "M6 3l5 5-5 5", loop: "M4 6h7a2 2 0 0 1 2 2v1M12 10H5a2 2 0 0 1-2-2V7M6 4L4 6l2 2M10 12l2-2-2-2",
  key: "M8 3l5 5-5 5-5-5z", sun: "M8 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5M8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M3.4 12.6l1-1M11.6 4.4l1-1",
  help: "M6 6a2 2 0 1 1 2.8 1.8c-.6.3-.8.7-.8 1.4M8 11.8v.2", frame: "M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3", move: "M8 2v12M2 8h12M8 2L6.5 3.5M8 2l1.5 1.5M8 14l-1.5-1.5M8 14l1.5-1.5M2 8l1.5-1.5M2 8l1.5 1.5M14 8l-1.5-1.5M14 8l-1.5 1.5",
  turn: "M13 8a5 5 0 1 1-2-4M11 1.5V4H8.5", ghost: "M4 13V7a4 4 0 0 1 8 0v6l-2-1.5L8 13l-2-1.5z", trail: "M2 12c3-8 5 2 7-3s3-5 5-5", mass: "M8 2v12M2 8h12M8 3.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9",
  person: "M8 2a1.9 1.9 0 1 0 0 3.8A1.9 1.9 0 0 0 8 2M4.2 14V9.6C4.2 8 5.8 7.2 8 7.2s3.8.8 3.8 2.4V14M6.4 14v-3.4M9.6 14v-3.4",
  heat: "M8 1.8c.4 2.6 3.8 4 3.8 7.4A3.9 3.9 0 0 1 8 13.9a3.9 3.9 0 0 1-3.8-4.2c0-1.5.7-2.5 1.5-3.3.1 1 .5 1.6 1.2 1.9C6.6 6 7 3.6 8 1.8",
  axes: "M4 12V3M4 3L2.6 5M4 3l1.4 2M4 12h9M13 12l-2-1.4M13 12l-2 1.4M4 12l5-5M9 7H7M9 7v2",
  cone: "M8 14L2.5 5M8 14l5.5-9M2.5 5c0-1.4 2.5-2.2 5.5-2.2s5.5.8 5.5 2.2-2.5 2.2-5.5 2.2S2.5 6.4 2.5 5", trash: "M4 5h8M6 5V3h4v2M5 5l.5 8h5l.5-8", plus: "M8 3v10M3 8h10", graph: "M2 13h12M2 11l3-4 3 2 3-6 3 3", force: "M8 14V3M8 3L5 6M8 3l3 3M3 14h10",
};

/** Returns a small picture for a button. @param {keyof typeof PATHS} name */
export function icon(name) {
  const path = PATHS[name], filled = path.startsWith("f:"), space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg"), line = document.createElementNS(space, "path");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  line.setAttribute("d", filled ? path.slice(2) : path);
  if (filled) line.setAttribute("class", "fill");
  svg.append(line);
  return svg;
}

/**
 * A button with a tooltip. Its name for screen readers is its text, or else the tooltip's first words.
 * @param {string | Node} face @param {string} title @param {(event: MouseEvent) => void} onclick @param {Record<string, any>} [more]
 */
export function button(face, title, onclick, more = {}) {
  const bare = typeof face !== "string";
  return make("button", { type: "button", title, onclick, ...(bare ? { "aria-label": title.split(/[:(.]/)[0].trim() } : {}), ...more }, face);
}

/** A panel with a title. @param {string} title @param {...any} children */
export const panel = (title, ...children) => make("section", { className: "panel" }, make("h2", {}, title), make("div", { className: "body" }, ...children));

const READING = 50; // [ms] that a letter takes to be read
const MOST_SAID = 100; // sentences that are remembered
/** @type {string[]} The last sentences that were shown. */
export const said = [];

/** Shows a sentence for a while. @param {string} message @param {boolean} [bad] */
export function toast(message, bad = false) {
  const box = make("div", { className: bad ? "toast bad" : "toast", title: "Click to close", onclick: () => box.remove() }, message);
  byId("toasts").append(box);
  while (byId("toasts").children.length > 4) byId("toasts").firstChild.remove();
  said.push(message);
  if (said.length > MOST_SAID) said.shift();
  setTimeout(() => box.remove(), (bad ? 6000 : 3000) + READING * message.length);
}

/**
 * Opens a menu at a place of the screen. Entries are [text, action, hint?], a string (a title) or null (a line).
 * @param {number} x @param {number} y @param {Array<[string, (() => void) | null, string?] | string | null>} entries
 */
export function openMenu(x, y, entries) {
  document.querySelector(".menu")?.remove();
  const menu = make("div", { className: "menu", role: "menu" });
  for (const entry of entries) {
    if (entry === null) menu.append(make("hr"));
    else if (typeof entry === "string") menu.append(make("div", { className: "title" }, entry));
    else menu.append(make("button", { type: "button", role: "menuitem", title: entry[0], disabled: !entry[1], onclick: () => { close(); entry[1]?.(); } }, entry[0], entry[2] ? make("kbd", {}, entry[2]) : null));
  }
  const close = () => { menu.remove(); removeEventListener("pointerdown", outside, true); removeEventListener("keydown", key, true); };
  const outside = (/** @type {Event} */ event) => { if (!menu.contains(event.target)) close(); };
  const key = (/** @type {KeyboardEvent} */ event) => {
    const all = [...menu.querySelectorAll("button:not(:disabled)")], at = all.indexOf(document.activeElement);
    if (event.key === "Escape") close();
    else if (event.key === "ArrowDown") all[(at + 1) % all.length]?.focus();
    else if (event.key === "ArrowUp") all[(at - 1 + all.length) % all.length]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  document.body.append(menu);
  const box = menu.getBoundingClientRect();
  menu.style.left = `${Math.max(4, Math.min(x, innerWidth - box.width - 4))}px`;
  menu.style.top = `${Math.max(4, Math.min(y, innerHeight - box.height - 4))}px`;
  addEventListener("pointerdown", outside, true);
  addEventListener("keydown", key, true);
  menu.querySelector("button:not(:disabled)")?.focus();
}
