// The way in: load, draw, and go where the address says (#messages, #m42, #p17, #turn/3, #core/human).

const VIEWS = ["window", "timeline", "pages", "core", "passages", "messages"];
const VIEW_OF = { m: "messages", p: "pages", d: "pages", a: "passages" };

function show(name) {
  for (const each of VIEWS) view(each).hidden = each !== name;
  for (const anchor of document.querySelectorAll("#views a")) {
    if (anchor.hash === `#${name}`) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
}

function go() {
  const [where, rest] = decodeURIComponent(location.hash.slice(1)).split("/", 2);
  if (/^[mpda]\d+$/.test(where)) {
    show(VIEW_OF[where[0]]);
    const open = { m: openMessage, p: openPage, d: openPage, a: openPassage }[where[0]];
    if (!open(where)) data.ready.then(() => open(where) || say(`${where} is not in this page.`));
  } else if (where === "turn" || where === "flush") {
    show("timeline");
    (where === "turn" ? openTurn : openFlush)(Number(rest));
  } else {
    const name = VIEWS.includes(where) ? where : "window";
    show(name);
    const place = rest && document.getElementById(`core/${rest}`);
    if (place) place.scrollIntoView();
    else if (where) document.getElementById(`head-${name}`).focus({ preventScroll: true });
    if (name === "messages") messages.list.reveal(Math.max(0, messages.list.chosen));
    if (name === "timeline") timeline.list.reveal(Math.max(0, timeline.list.chosen));
  }
}

const say = (text) => (document.getElementById("progress").textContent = text);

function keys(event) {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const typing = event.target.matches("input, select, textarea");
  if (event.key === "Escape" && event.target.matches("input[type=search]")) {
    event.target.value = "";
    event.target.dispatchEvent(new Event("input"));
  } else if (typing) return;
  else if (event.key === "/") {
    event.preventDefault();
    if (view("passages").hidden) location.hash = "#messages";
    (view("passages").hidden ? view("messages") : view("passages")).querySelector("input").focus();
  } else if (/^[1-6]$/.test(event.key)) location.hash = `#${VIEWS[event.key - 1]}`;
}

async function start() {
  say("unpacking …");
  await loadAbout();
  const { name, made_at, zone } = data.about;
  setZone(zone);
  document.getElementById("name").textContent = name;
  drawWindow();
  if (!location.hash || location.hash === "#window") show("window");
  await load();
  document.getElementById("about").textContent =
    `as of ${when(Date.parse(made_at) / 1000)} · ${count(data.turns.length, "turn")} · ${count(data.leaves.length, "page")}`;
  data.ready = new Promise((done) => (data.loaded = done));
  const total = pieces("messages").reduce((sum, piece) => sum + Number(piece.dataset.rows), 0);
  data.messages.length = total;
  for (const draw of [drawTimeline, drawPages, drawCore, drawPassages, drawMessages]) draw();
  addEventListener("hashchange", go);
  addEventListener("keydown", keys);
  go();
  await loadMessages((at) => {
    say(`${number.format(total - at)} of ${count(total, "message")} …`);
    for (const { list } of [messages, timeline]) list.show();
  });
  say("");
  messagesLoaded();
  timelineLoaded();
  pagesLoaded();
  data.loaded();
  document.documentElement.dataset.ready = "yes"; // for tests and scripts
}

start().catch((error) => {
  say(`This page cannot be shown: ${error.message}`);
  throw error;
});
