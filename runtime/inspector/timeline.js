// Turns and flushes in the order they happened, under the chart of window use.

let timeline = null;

function drawTimeline() {
  data.writtenIn = groupBy(data.pages.filter((page) => page.kind === "page"), (page) => page.epoch);
  const events = happened();
  const list = new List({
    label: "Turns and flushes",
    empty: "No turn yet.",
    draw: (event) => (event.turn ? turnRow(event.turn) : flushRow(event.epoch)),
    open: (event, move) => showDetail(side.detail, event.turn ? turnDetail(event.turn) : flushDetail(event.epoch), move),
  });
  const side = sideBySide(list, "Turn or flush");
  timeline = { list, events };
  const openStep = (step) => openTurn(step.turn, false);
  if (data.steps.length) view("timeline").append(chartOf(data.steps, data.about.window.usable, openStep));
  view("timeline").append(side.element);
  list.set(events);
  if (events.length) list.choose(events.length - 1);
}

/** Turns, and after each the epochs that began in it or in the idle after it. */
function happened() {
  const before = (epoch) => data.turns[lastWhere(data.turns, (turn) => turn.first <= epoch.seq)]?.turn ?? 0;
  const epochs = groupBy(data.epochs.filter((epoch) => epoch.reason !== "start"), before);
  const after = (turn) => (epochs.get(turn) ?? []).map((epoch) => ({ epoch }));
  return [...after(0), ...data.turns.flatMap((turn) => [{ turn }, ...after(turn.turn)])];
}

/** The messages of what is shown have come. */
function timelineLoaded() {
  if (timeline.events.length) timeline.list.choose(timeline.list.chosen);
}

function openTurn(number, move = true) {
  timeline.list.choose(timeline.events.findIndex((event) => event.turn?.turn === number), move);
}

function openFlush(number) {
  timeline.list.choose(timeline.events.findIndex((event) => event.epoch?.epoch === number), true);
}

// --- turns ---------------------------------------------------------------------------------------

function turnRow(turn) {
  const steps = data.stepsOf.get(turn.turn) ?? [];
  const first = messageAt(turn.first);
  const ended = turn.stop && turn.stop !== "answered" ? make("span.tag.bad", {}, turn.stop.replace("_", " ")) : null;
  const rewound = first && !first.live ? make("span.tag", {}, "rewound") : null;
  return [
    make("span.row-head", {}, make("b", {}, `turn ${turn.turn}`), make("span.quiet", {}, when(turn.at)),
      make("span.quiet", {}, turn.speaker), ended, rewound, make("span.quiet.right", {}, count(steps.length, "step"))),
    make("span.row-text", {}, first ? oneLine(first.text) : "…"),
  ];
}

function turnDetail(turn) {
  const steps = data.stepsOf.get(turn.turn) ?? [];
  const next = data.turnOf.get(turn.turn + 1);
  const said = messagesBetween(turn.first, next ? next.first - 1 : Infinity).filter((m) => m.turn === turn.turn);
  const known = steps.every((step) => step.cost !== null);
  const cost = steps.reduce((sum, step) => sum + (step.cost ?? 0), 0);
  return [
    make("h3", {}, `Turn ${turn.turn}`),
    facts(
      ["event", turn.event.replace(/(?!^)(?=[A-Z])/g, " ").toLowerCase()], ["by", turn.speaker], ["began", when(turn.at)],
      ["ended", turn.ended ? `${when(turn.ended)}, ${turn.stop.replace("_", " ")}` : "still open"],
      ["because", turn.reasons.join("; ")],
      ["requests", ...joined(steps.map((step) => `${number.format(step.estimated)} tokens`))],
      ["replies", count(steps.reduce((sum, step) => sum + step.completion, 0), "token")],
      ["cost", cost ? `${known ? "" : "≥ "}$${cost.toFixed(4)}` : ""],
    ),
    ...said.map(messageCard),
  ];
}

// --- flushes -------------------------------------------------------------------------------------

const REASONS = {
  flush: "flush",
  idle: "flush in the idle after a turn",
  asked: "flush that was asked for",
  overflow: "flush: the model refused the length",
  held: "an event was shown again",
};

const pagesOf = (epoch) => data.writtenIn.get(epoch.epoch) ?? [];

function flushRow(epoch) {
  const pages = pagesOf(epoch);
  return [
    make("span.row-head", {}, make("b.flush", {}, REASONS[epoch.reason] ?? epoch.reason), make("span.quiet", {}, when(epoch.at))),
    make("span.row-text", {},
      pages.length
        ? `${count(pages.length, "page")}, ${spanOf(pages[0].first, pages.at(-1).last)} left the window`
        : `the prompt's head changed; the queue begins at m${epoch.start}`),
  ];
}

function flushDetail(epoch) {
  const pages = pagesOf(epoch);
  const before = data.epochs[lastWhere(data.epochs, (each) => each.epoch < epoch.epoch)];
  const summary = data.summaryOf.get(epoch.summary);
  const old = data.summaryOf.get(before?.summary);
  const changed = summary && summary.summary !== old?.summary;
  return [
    make("h3", {}, `Epoch ${epoch.epoch}: ${REASONS[epoch.reason] ?? epoch.reason}`),
    facts(
      ["at", when(epoch.at)],
      ["pages", ...joined(pages.map((page) => link(idOf(page))), " ")],
      ["queue begins", link(`m${epoch.start}`)],
      ["pinned", ...joined(epoch.pins.map((id) => link(id)))],
      ["summary", summary ? `of m1–m${summary.covers}, rung ${summary.rung}, by ${summary.author}, ${count(summary.tokens, "token")}` : ""],
    ),
    changed && make("h4", {}, "What changed in the summary"),
    changed && compared(old?.text ?? "", summary.text),
  ];
}
