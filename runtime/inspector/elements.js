// Elements, words and times. Text reaches the page as text nodes only, never as markup.

/** `make("p.note", { id: "x" }, "text", child)` */
function make(what, properties = {}, ...children) {
  const [tag, ...classes] = what.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [name, value] of Object.entries(properties)) {
    if (name in element && name !== "role" && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.flat().filter(Boolean));
  return element;
}

function drawing(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const view = (name) => document.getElementById(`view-${name}`);

const number = new Intl.NumberFormat("en");
const count = (amount, noun, many = `${noun}s`) =>
  `${number.format(amount)} ${amount === 1 ? noun : many}`;

// The agent's own time zone, as on its messages; set once the data says which.
let clock = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "short" });

function setZone(zone) {
  try {
    clock = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "short", timeZone: zone });
  } catch {
    // A zone that this browser does not know: its own is shown.
  }
}

const when = (seconds) => (seconds ? clock.format(new Date(seconds * 1000)) : "");

const spanOf = (first, last) => (first === last ? `m${first}` : `m${first}–m${last}`);

/** The id as a link to where it is shown. */
const link = (id, text = id) => make("a.id", { href: `#${id}` }, text);

/** Things with a separator between them. */
const joined = (items, separator = ", ") =>
  items.flatMap((item, at) => (at ? [separator, item] : [item]));

/** A text of the runtime's in which ids (m42, p17, d3, a7) are links. */
const linked = (text) =>
  text.split(/\b([mpda]\d+)\b/).map((piece, at) => (at % 2 && piece !== "d0" ? link(piece) : piece));

/** A list of names and values; those without a value are left out. */
function facts(...pairs) {
  const list = make("dl.facts");
  for (const [name, ...value] of pairs) {
    const shown = value.flat().filter((part) => part !== null && part !== undefined && part !== "");
    if (shown.length) list.append(make("dt", {}, name), make("dd", {}, ...shown));
  }
  return list;
}

const oneLine = (text) => text.slice(0, 400).replace(/\s+/g, " ").trim();

/** Lets the browser draw and take keys in between. */
const pause = () => new Promise((resolve) => setTimeout(resolve));
