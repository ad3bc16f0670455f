// The tree of pages: what left the window, by time. Branches are filled when they are opened.

let pageDetail = null;
let pageShown = null;
const branches = new Map(); // by the id of a directory or page

function drawPages() {
  const tops = (data.childrenOf.get(null) ?? []).sort((a, b) => a.first - b.first);
  const tree = make("div.tree", { "aria-label": "Pages by time", role: "group" });
  pageDetail = make("article.detail", { tabIndex: -1, "aria-label": "Page" });
  if (!tops.length) {
    view("pages").append(make("p.empty", {}, "No pages yet: everything said is still in the window."));
    return;
  }
  tree.append(...tops.map(branch));
  const directories = data.live.length - data.leaves.length;
  view("pages").append(
    make("p.lead", {}, `${count(data.leaves.length, "page")}${directories ? ` in ${count(directories, "directory", "directories")}` : ""}, the oldest first.`),
    make("div.split", {}, tree, pageDetail),
  );
  showPage(tops.at(-1), false);
}

function branch(page) {
  const id = idOf(page);
  const words = [
    make("b", {}, id), " ",
    make("span.quiet", {}, `${when(page.from)} · ${spanOf(page.first, page.last)} · ${count(page.tokens, "token")}`),
    page.heat >= 0.05 && make("span.tag.hot", {}, `heat ${page.heat}`),
    pinned(page) && make("span.tag", {}, "pinned"),
    recalled(page) && make("span.tag", {}, "prefetched"),
    make("span.gist", {}, oneLine(page.gist)),
  ].filter(Boolean);
  if (page.kind === "page") {
    const leaf = make("button.leaf", { type: "button" }, ...words);
    leaf.addEventListener("click", () => showPage(page, true));
    branches.set(id, leaf);
    return leaf;
  }
  const summary = make("summary", {}, ...words);
  const inside = make("div.inside");
  const details = make("details", {}, summary, inside);
  details.addEventListener("toggle", () => details.open && fill(page));
  summary.addEventListener("click", () => showPage(page, false));
  branches.set(id, details);
  details.inside = inside;
  return details;
}

function fill(page) {
  const { inside } = branches.get(idOf(page));
  if (inside.childElementCount) return;
  const children = (data.childrenOf.get(page.number) ?? []).sort((a, b) => a.first - b.first);
  inside.append(...children.map(branch));
}

const holds = (page, id) =>
  page.kind === "page" &&
  (id === idOf(page) || (id[0] === "m" && page.first <= Number(id.slice(1)) && Number(id.slice(1)) <= page.last));

const pinned = (page) => data.about.window.pins.some((pin) => holds(page, pin.id));
const recalled = (page) => data.about.window.prefetch.ids.some((id) => holds(page, id));

/** Open the way to a page, and show it. */
function openPage(id) {
  const page = data.pageOf.get(id);
  if (!page) return false;
  if (!page.live) {
    showPage(page, true);
    return true;
  }
  const above = [];
  for (let parent = page.parent; parent !== null; parent = data.pageOf.get(`d${parent}`).parent) {
    above.unshift(data.pageOf.get(`d${parent}`));
  }
  for (const directory of above) {
    fill(directory);
    branches.get(idOf(directory)).open = true;
  }
  branches.get(id).scrollIntoView({ block: "nearest" });
  showPage(page, true);
  return true;
}

/** The messages of what is shown have come. */
function pagesLoaded() {
  if (pageShown) showPage(pageShown, false);
}

function showPage(page, move) {
  pageShown = page;
  for (const chosen of document.querySelectorAll(".tree [aria-current]")) chosen.removeAttribute("aria-current");
  const place = branches.get(idOf(page));
  (place?.querySelector(":scope > summary") ?? place)?.setAttribute("aria-current", "true");
  const gists = data.gistsOf.get(page.number) ?? [];
  const children = page.kind === "directory" ? (data.childrenOf.get(page.number) ?? []) : [];
  const said = page.kind === "page" ? messagesBetween(page.first, page.last) : [];
  showDetail(pageDetail, [
    make("h3", {}, `${page.kind === "page" ? "Page" : "Directory"} ${idOf(page)}`),
    facts(
      ["from", when(page.from)], ["to", when(page.to)],
      ["messages", `${number.format(page.messages)}: `, link(`m${page.first}`), "–", link(`m${page.last}`)],
      ["reading it costs", count(page.tokens, "token")],
      ["stands in", page.parent === null ? "" : link(`d${page.parent}`)],
      ["holds", ...joined(children.map((child) => link(idOf(child))), " ")],
      ["rewound", page.live ? "" : "it is not on the agent's line any more"],
      ["heat", page.heat >= 0.05 ? String(page.heat) : ""],
      ["written", `in `, make("a", { href: `#flush/${page.epoch}` }, `epoch ${page.epoch}`)],
      ["trust", String(page.trust)],
      ["gist by", page.author],
      ["gist", page.gist],
      ["keywords", page.keywords.join(", ")],
    ),
    ...(page.kind === "page" ? gists : []).map((gist) =>
      make("p.quiet", {}, `gist ${gist.version}, by ${gist.author}, ${when(gist.at)}: ${gist.gist}`)),
    ...said.map(messageCard),
  ], move);
}
