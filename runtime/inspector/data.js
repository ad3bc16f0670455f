// The data: pieces of compressed JSON in the page, unpacked one by one. `data.turns` and so on are
// lists of objects; `data.messages` fills from its end, and has holes until all is there.

// Why an epoch begins, where that is a flush; others change the prompt's head and move no message.
const FLUSHES = new Set(["flush", "idle", "asked", "overflow"]);

const data = { about: null, ready: null };

async function unpack(element) {
  const packed = bytesOf(element.textContent);
  element.remove(); // its text is not needed twice
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at);
  return bytes;
}

const pieces = (table) => [...document.querySelectorAll(`script[data-table="${table}"]`)];

/** Rows as objects, with the names that the page was written with. */
function named(table, rows) {
  const fields = data.about.tables[table];
  return rows.map((row) => {
    const named = {};
    for (let at = 0; at < fields.length; at++) named[fields[at]] = row[at];
    return named;
  });
}

/** Whose page this is, and the window. */
async function loadAbout() {
  [data.about] = await unpack(pieces("about")[0]);
}

/** What every view needs, which is little beside the messages. */
async function load() {
  for (const table of Object.keys(data.about.tables)) {
    data[table] = [];
    if (table === "messages") continue;
    for (const piece of pieces(table)) data[table].push(...named(table, await unpack(piece)));
  }
  relate();
}

/** All messages, the newest first; `told` is called after each piece. */
async function loadMessages(told) {
  const waiting = pieces("messages");
  let at = waiting.reduce((sum, piece) => sum + Number(piece.dataset.rows), 0);
  data.messages.length = at;
  for (const piece of waiting.reverse()) {
    const rows = named("messages", await unpack(piece));
    at -= rows.length;
    rows.forEach((row, index) => (data.messages[at + index] = row));
    told(at);
    await pause();
  }
}

/** What belongs to what. */
function relate() {
  data.flushes = new Set(data.epochs.filter((epoch) => FLUSHES.has(epoch.reason)).map((epoch) => epoch.epoch));
  data.turnOf = new Map(data.turns.map((turn) => [turn.turn, turn]));
  data.pageOf = new Map(data.pages.map((page) => [idOf(page), page]));
  data.passageOf = new Map(data.passages.map((passage) => [`a${passage.number}`, passage]));
  data.summaryOf = new Map(data.summaries.map((summary) => [summary.summary, summary]));
  data.stepsOf = groupBy(data.steps, (step) => step.turn);
  data.live = data.pages.filter((page) => page.live); // what was rewound stands in no tree
  data.childrenOf = groupBy(data.live, (page) => page.parent);
  data.gistsOf = groupBy(data.gists, (gist) => gist.number);
  data.versionsOf = groupBy(data.passage_versions, (version) => version.number);
  data.leaves = data.live.filter((page) => page.kind === "page").sort((a, b) => a.first - b.first);
}

const idOf = (page) => `${page.kind === "page" ? "p" : "d"}${page.number}`;

function groupBy(rows, key) {
  const groups = new Map();
  for (const row of rows) {
    const found = groups.get(key(row));
    if (found) found.push(row);
    else groups.set(key(row), [row]);
  }
  return groups;
}

/** The index of the last row of a sorted list that `before` holds of; -1 for none. */
function lastWhere(rows, before) {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (before(rows[middle])) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// What is not loaded yet is older than all that is.
const upTo = (seq) => (message) => !message || message.seq <= seq;

/** The message of a seq, or undefined: erased, or not loaded yet. */
function messageAt(seq) {
  const found = data.messages[lastWhere(data.messages, upTo(seq))];
  return found?.seq === seq ? found : undefined;
}

/** Every message from one seq to another. */
function messagesBetween(first, last) {
  const from = lastWhere(data.messages, upTo(first - 1)) + 1;
  const to = lastWhere(data.messages, upTo(last)) + 1;
  return data.messages.slice(from, to).filter(Boolean);
}

/** The page that a message lies in, or undefined while it is in the window. */
function pageHolding(seq) {
  const page = data.leaves[lastWhere(data.leaves, (each) => each.first <= seq)];
  return page && page.last >= seq ? page : undefined;
}
