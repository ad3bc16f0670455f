// The window to scale: a bar of its sections, what each holds, what the next flush would take.

const LISTED = 60; // groups that are named; of more it is said how many

const HOLDS = {
  tools: (window) => [count(window.functions, "function")],
  core: (window) =>
    joined(
      window.blocks.map((block) =>
        make("span", {}, link(`core/${block.label}`, block.label),
          ` ${number.format(block.characters)}/${number.format(block.limit)}`))),
  summary: (window) =>
    window.summary.covers_last
      ? [
          "covers ", link("m1"), "–", link(`m${window.summary.covers_last}`),
          `; rung ${window.summary.rung}, by ${window.summary.author}`,
        ]
      : [],
  page_table: (window) => [
    ...joined(window.table.map((id) => (id === "d0" ? id : link(id))), " "),
    `: the way to ${count(window.pages, "page")}`,
  ],
  pinned: (window) => joined(window.pins.filter((pin) => pin.shown).map((pin) => link(pin.id))),
  queue: ({ queue, conversation }) =>
    queue.messages
      ? [
          link(`m${queue.first_seq}`), "–", link(`m${queue.last_seq}`),
          `: ${count(queue.messages, "message")} in ${count(queue.groups, "group")},`,
          ` conversation ${conversation}`,
        ]
      : [],
};

function drawWindow() {
  const { window: found, reserve } = data.about;
  const whole = Math.max(found.usable, found.used) + reserve;
  const filled = found.sections.filter((section) => section.tokens);
  view("window").append(
    make("p.lead", {},
      make("strong", {}, `${number.format(found.used)} of ${number.format(found.usable)} usable tokens`),
      ` · ${found.model || "no model yet"} · window ${number.format(found.window)} tokens`,
      ` (${found.window_source}) · pressure `,
      make(`strong.level-${found.level}`, {}, found.level),
    ),
    windowBar(found, filled, reserve, whole),
    sectionTable(found, filled, reserve, whole),
    windowFacts(found),
  );
  if (found.summary.text) {
    view("window").append(make("h3", {}, "The summary"), make("pre.text", {}, ...linked(found.summary.text)));
  }
  if (found.prefetch.text) {
    view("window").append(
      make("h3", {}, "Memories before the last event"),
      make("pre.text", {}, found.prefetch.text),
    );
  }
}

function windowBar(found, filled, reserve, whole) {
  const bar = make("div.bar", { role: "img", "aria-label": "The window to scale; its sections are in the table below." });
  const part = (name, tokens, title) => {
    const piece = make(`span.part.${name}`, { title: `${title}: ${number.format(tokens)} tokens` });
    piece.style.flexGrow = tokens;
    bar.append(piece);
  };
  for (const { name, tokens } of filled) {
    const going = name === "queue" ? found.evicted_next.tokens : 0;
    if (going) part("queue.going", going, "evicted next");
    part(name, tokens - going, name.replace("_", " "));
  }
  part("free", Math.max(0, found.usable - found.used), "free");
  part("reply", reserve, "kept for the reply");
  const marks = make("div.marks", { ariaHidden: "true" });
  for (const [word, at] of [["warn", found.warn_at], ["flush", found.flush_at]]) {
    const mark = make("span.mark", {}, word);
    mark.style.left = `${(100 * (found.fixed + at)) / whole}%`;
    marks.append(mark);
  }
  return make("div.to-scale", {}, bar, marks);
}

function sectionTable(found, filled, reserve, whole) {
  const body = make("tbody");
  const line = (classes, name, tokens, holds) =>
    body.append(
      make("tr", {},
        make("th", { scope: "row" }, make(`span.box.${classes}`), name),
        make("td.amount", {}, number.format(tokens)),
        make("td.amount", {}, `${Math.round((100 * tokens) / whole)} %`),
        make("td", {}, ...holds),
      ),
    );
  for (const { name, tokens } of filled) {
    line(name, name.replace("_", " "), tokens, HOLDS[name]?.(found) ?? []);
    if (name === "queue" && found.evicted_next.tokens) {
      const groups = found.evicted_next.groups;
      line("queue.going", "evicted next", found.evicted_next.tokens, [
        `${groups.length} of ${count(found.queue.groups, "group")}: `,
        ...joined(groups.slice(0, LISTED).map((group) =>
          link(`m${group.first_seq}`, spanOf(group.first_seq, group.last_seq))), " "),
        groups.length > LISTED ? ` and ${number.format(groups.length - LISTED)} more` : "",
      ]);
    }
  }
  line("free", "free", Math.max(0, found.usable - found.used), []);
  line("reply", "reply", reserve, ["kept for it"]);
  const head = ["section", "tokens", "share", "holds"].map((name) => make("th", { scope: "col" }, name));
  return make("div.scroll", { tabIndex: 0, role: "region", "aria-label": "Sections of the window" },
    make("table.sections", {}, make("thead", {}, make("tr", {}, ...head)), body));
}

function windowFacts(found) {
  const { counter } = found;
  const waiting = found.pins.filter((pin) => !pin.shown);
  return facts(
    ["flush", `warns at ${number.format(found.warn_at)} tokens of room, flushes at ${number.format(found.flush_at)},`,
      ` keeps ${number.format(found.keep_at)} of ${number.format(found.room)}`],
    ["counter", `× ${found.calibration.toFixed(2)} of ours, `,
      counter.samples
        ? `learned from ${count(counter.samples, "reply", "replies")} (average ${counter.ratio}, last ${counter.last}, and a margin)`
        : "a guess: no reply has told its usage yet"],
    ["pinned, not shown yet", ...joined(waiting.map((pin) => link(pin.id)))],
    ["read of late", ...joined(found.hot.map((page) => make("span", {}, link(page.id), ` (${page.heat})`)))],
    ["memories", ...joined(found.prefetch.ids.map((id) => link(id)))],
    ["on disk", `${count(found.recall.total, "message")}, ${count(found.archival.total, "passage")}, ${count(found.pages, "page")}`],
  );
}
