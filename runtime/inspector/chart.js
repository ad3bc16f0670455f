// Window use over time: what each request was estimated at, what the model reported, each flush.
// Steps that fall on one column are drawn by the largest of them.

const WIDE = 1000; // units of the drawing, stretched to the page
const HIGH = 240;
const RANGES = [200, 1000, 10_000];

/** `open(step)` is called for a step that is clicked. */
function chartOf(steps, usable, open) {
  const readout = make("p.readout", { role: "status" });
  const slider = make("input", { type: "range", min: 0, "aria-label": "Step" });
  const choice = make("select", { "aria-label": "Steps shown" });
  for (const range of RANGES.filter((each) => each < steps.length)) {
    choice.append(make("option", { value: range }, `newest ${number.format(range)} steps`));
  }
  choice.append(make("option", { value: steps.length }, `all ${count(steps.length, "step")}`));
  const frame = make("div.chart");
  let shown = [];
  let cursor = null;

  const redraw = () => {
    shown = steps.slice(-Number(choice.value));
    const drawn = drawSteps(shown, usable);
    cursor = drawing("line", { class: "cursor", y1: 0, y2: HIGH });
    drawn.append(cursor);
    frame.replaceChildren(drawn);
    slider.max = shown.length - 1;
    slider.value = shown.length - 1;
    tell();
  };
  const tell = () => {
    const step = shown[Number(slider.value)];
    const x = columnOf(Number(slider.value), shown.length);
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    const told = step.prompt ? `, ${number.format(step.prompt)} by the model's count` : "";
    readout.replaceChildren(
      `step ${number.format(step.step)} of turn `,
      make("a", { href: `#turn/${step.turn}` }, number.format(step.turn)),
      ` · ${when(step.at)} · ${count(step.estimated, "token")}${told} · ${step.model}`,
    );
  };
  const at = (event) => {
    const box = frame.getBoundingClientRect();
    const share = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
    slider.value = Math.round(share * (shown.length - 1));
    tell();
  };
  slider.addEventListener("input", tell);
  choice.addEventListener("change", redraw);
  frame.addEventListener("pointermove", at);
  frame.addEventListener("click", (event) => {
    at(event);
    open(shown[Number(slider.value)]);
  });
  redraw();
  return make("figure", {},
    make("figcaption", {},
      make("span.key.estimated", {}, "estimated"), make("span.key.reported", {}, "reported"),
      make("span.key.flush", {}, "flush"), make("span.key.usable", {}, "usable now"), choice),
    frame, slider, readout);
}

const columnOf = (index, length) => (length > 1 ? (index / (length - 1)) * WIDE : WIDE / 2);

function drawSteps(steps, usable) {
  const most = steps.reduce((high, step) => Math.max(high, step.estimated, step.prompt), usable) * 1.05;
  const y = (tokens) => HIGH - (tokens / most) * HIGH;
  const svg = drawing("svg", {
    viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", role: "img",
    "aria-label": `Tokens of each request over ${count(steps.length, "step")}; the slider below reads them out.`,
  });
  const line = (key) =>
    columns(steps, key).map(([x, tokens], at) => `${at ? "L" : "M"}${x.toFixed(1)} ${y(tokens).toFixed(1)}`).join("");
  const flushed = steps.map((step, at) => at && flushesBetween(steps[at - 1].epoch, step.epoch));
  const marked = [...new Set(flushed.flatMap((yes, at) => (yes ? [Math.round(columnOf(at, steps.length))] : [])))];
  // More flushes than can be told apart are no marks but a ground.
  const faint = marked.length > WIDE / 8 ? " faint" : "";
  svg.append(
    drawing("path", { class: `flushes${faint}`, d: marked.map((x) => `M${x} 0V${HIGH}`).join("") }),
    drawing("path", { class: "area", d: `${line("estimated")}L${WIDE} ${HIGH}L0 ${HIGH}Z` }),
    drawing("path", { class: "estimated", d: line("estimated") }),
    drawing("path", { class: "reported", d: line("prompt") }),
    drawing("line", { class: "usable", x1: 0, x2: WIDE, y1: y(usable), y2: y(usable) }),
  );
  return svg;
}

function flushesBetween(before, after) {
  for (let epoch = before + 1; epoch <= after; epoch++) if (data.flushes.has(epoch)) return true;
  return false;
}

/** The largest value in each column; steps without one are left out. */
function columns(steps, key) {
  const found = new Map();
  steps.forEach((step, at) => {
    if (!step[key]) return;
    const x = Math.round(columnOf(at, steps.length));
    found.set(x, Math.max(found.get(x) ?? 0, step[key]));
  });
  return [...found];
}
