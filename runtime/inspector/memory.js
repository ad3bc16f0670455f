// Core memory with every version of a block and what changed; passages, to be searched.

const VERSIONS = 20; // shown before one asks for more

function drawCore() {
  const labels = groupBy(data.blocks, (version) => version.label);
  if (!labels.size) view("core").append(make("p.empty", {}, "No blocks."));
  const order = data.about.window.blocks;
  const place = (label) => order.findIndex((block) => block.label === label) + 1 || Infinity;
  for (const label of [...labels.keys()].sort((a, b) => place(a) - place(b))) {
    const versions = labels.get(label);
    const limit = order.find((block) => block.label === label)?.limit;
    const newest = versions.at(-1);
    view("core").append(
      make("section.block", { id: `core/${label}` },
        make("h3", {}, label, make("span.quiet", {},
          ` ${number.format(newest.value.length)}${limit ? ` of ${number.format(limit)}` : ""} characters · ${count(versions.length, "version")}`)),
        make("pre.text", {}, newest.value || "(empty)"),
        versionList(versions, (version) => version.value),
      ),
    );
  }
}

/** Versions with what changed in each, the newest first. */
function versionList(versions, textOf) {
  if (versions.length < 2) return make("p.quiet", {}, "It has not changed.");
  const list = make("div.versions");
  let at = versions.length - 1;
  const more = make("button", { type: "button" }, "Older versions");
  const add = () => {
    for (const end = Math.max(-1, at - VERSIONS); at > end; at--) {
      const [version, before] = [versions[at], versions[at - 1]];
      const details = make("details", {},
        make("summary", {}, make("b", {}, `version ${version.version}`),
          make("span.quiet", {}, ` ${when(version.at)} · ${version.author}${version.reason ? ` · ${version.reason}` : ""}`)));
      details.addEventListener("toggle", () => {
        if (details.open && details.childElementCount === 1) details.append(compared(before ? textOf(before) : "", textOf(version)));
      });
      details.open = version === versions.at(-1);
      list.append(details);
    }
    more.hidden = at < 0;
  };
  add();
  more.addEventListener("click", add);
  return make("div", {}, list, more);
}

// --- passages ------------------------------------------------------------------------------------

let passages = null;

function drawPassages() {
  const list = new List({
    label: "Passages",
    empty: data.passages.length ? "No passage has these words." : "No passages yet.",
    draw: (passage) => [
      make("span.row-head", {}, make("b", {}, `a${passage.number}`), make("span.quiet", {}, when(passage.updated)),
        passage.kind !== "note" && make("span.tag", {}, passage.kind),
        standing(passage) && make("span.tag", {}, standing(passage)),
        ...passage.tags.slice(0, 3).map((tag) => make("span.tag", {}, tag))),
      make("span.row-text", {}, oneLine(passage.text)),
    ],
    open: (passage, move) => showDetail(side.detail, passageDetail(passage), move),
  });
  const side = sideBySide(list, "Passage");
  const field = searchField("Search passages", (words) => {
    const found = data.passages.filter((passage) => holdsAll(words, `${passage.text} ${passage.kind} ${passage.tags.join(" ")}`));
    list.set(found);
    return Promise.resolve(found.length);
  }, "passage");
  passages = list;
  view("passages").append(field, side.element);
  list.set(data.passages);
  if (data.passages.length) list.choose(data.passages.length - 1);
}

/** What is to be said of where a passage stands; "" for one that any search finds. */
function standing(passage) {
  if (passage.status !== "active") return passage.status;
  return ["active", passage.kind].includes(passage.standing) ? "" : passage.standing;
}

function openPassage(id) {
  if (!data.passageOf.has(id)) return false;
  passages.set(data.passages);
  passages.choose(data.passages.indexOf(data.passageOf.get(id)), true);
  return true;
}

function passageDetail(passage) {
  const versions = data.versionsOf.get(passage.number) ?? [];
  return [
    make("h3", {}, `Passage a${passage.number}`),
    facts(
      ["stored", when(passage.at)], ["changed", passage.updated === passage.at ? "" : when(passage.updated)],
      ["kind", passage.kind === "note" ? "" : passage.level ? `${passage.kind}, level ${passage.level}` : passage.kind],
      ["fact", [passage.subject, passage.relation, passage.object].filter(Boolean).join(" · ")],
      ["said by", passage.speaker],
      ["true", [passage.from && `from ${when(passage.from)}`, passage.to && `until ${when(passage.to)}`].filter(Boolean).join(" ")],
      ["now", ...(passage.superseded ? [link(`a${passage.superseded}`)] : [""])],
      ["scope", passage.scope === "/" ? "" : passage.scope], ["private to", passage.owner],
      ["tags", passage.tags.join(", ")], ["status", standing(passage) || passage.status],
      ["origin", `${passage.origin}${passage.detail ? ` (${passage.detail})` : ""}, trust ${passage.trust}`],
      ["importance", passage.importance === null ? "" : String(passage.importance)],
      ["sources", ...joined(passage.sources.map((id) => link(id)))],
    ),
    make("pre.text", {}, passage.text),
    versions.length > 1 && make("h4", {}, "Versions"),
    versions.length > 1 && versionList(versions, (version) => version.text),
  ];
}
