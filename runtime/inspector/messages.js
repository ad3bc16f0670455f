// Every message, searched by all words at once; long searches let the page answer in between.

const SLICE = 20_000; // messages looked through without a pause

let messages = null;

function drawMessages() {
  const role = make("select", { "aria-label": "Whose messages" },
    ...[["", "everyone's"], ["user", "people's"], ["assistant", "the agent's"], ["tool", "functions'"], ["notice", "notices and readings"]]
      .map(([value, text]) => make("option", { value }, text)));
  const list = new List({
    label: "Messages",
    empty: "No message has these words.",
    draw: messageRow,
    open: (message, move) => showDetail(side.detail, messageDetail(message, field.words), move),
  });
  const side = sideBySide(list, "Message");
  let run = 0;
  const search = async (words) => {
    const mine = ++run;
    const wanted = fits(role.value);
    if (!words.length && !role.value) {
      list.set(data.messages);
      return data.messages.length;
    }
    const found = [];
    for (let at = 0; at < data.messages.length; at += SLICE) {
      for (const message of data.messages.slice(at, at + SLICE)) {
        if (message && wanted(message) && speaksOf(message, words)) found.push(message);
      }
      if (at + SLICE < data.messages.length) await pause();
      if (mine !== run) return null; // a newer search runs
    }
    list.set(found);
    return found.length;
  };
  const field = searchField("Search messages", search, "message", role);
  messages = { list, field };
  role.addEventListener("change", () => field.again());
  view("messages").append(field, side.element);
  list.set(data.messages, data.messages.length - 1);
}

const speaksOf = (message, words) =>
  words.every(
    (word) =>
      word.test(message.text) ||
      word.test(message.speaker) ||
      message.calls.some((call) => word.test(call[0]) || word.test(call[1])),
  );

function fits(role) {
  if (!role) return () => true;
  const aside = (message) => message.kind === "notice" || message.kind === "reading";
  return role === "notice" ? aside : (message) => message.role === role && !aside(message);
}

/** All messages are there: a search that ran too early missed some. */
function messagesLoaded() {
  const { list, field } = messages;
  if (field.words.length) field.again();
  else list.choose(list.chosen);
}

function openMessage(id) {
  const seq = Number(id.slice(1));
  const index = lastWhere(data.messages, upTo(seq));
  if (data.messages[index]?.seq !== seq) return false;
  messages.field.clear();
  messages.list.set(data.messages, index);
  messages.list.choose(index, true);
  return true;
}

function messageRow(message, row) {
  row.classList.add(message.role);
  if (!message.live) row.classList.add("rewound");
  const calls = message.calls.map(([name]) => `→ ${name}()`).join(" ");
  return [
    make("span.row-head", {}, make("b", {}, `m${message.seq}`), make("span.speaker", {}, speakerOf(message)),
      make("span.quiet", {}, when(message.at)),
      message.kind !== "talk" && make("span.tag", {}, message.kind),
      !message.ok && make("span.tag.bad", {}, "failed"),
      !message.live && make("span.tag", {}, "rewound"),
      make("span.quiet.right", {}, number.format(message.tokens))),
    make("span.row-text", {}, oneLine(message.text) || calls),
  ];
}

const speakerOf = (message) => (message.role === "tool" ? `${message.speaker}()` : message.speaker || message.role);

/** A message among others. */
function messageCard(message) {
  return make(`div.card.${message.role}`, {},
    make("p.row-head", {}, link(`m${message.seq}`), make("span.speaker", {}, speakerOf(message)),
      make("span.quiet", {}, when(message.at)), message.kind !== "talk" && make("span.tag", {}, message.kind),
      !message.live && make("span.tag", {}, "rewound")),
    message.text && make("pre.text", {}, message.text),
    ...message.calls.map(([name, given]) => make("pre.text.call", {}, `${name}(${given})`)));
}

function messageDetail(message, words = []) {
  const page = message.live && pageHolding(message.seq);
  const resident = message.live && message.seq >= (data.epochs.at(-1)?.start ?? 0);
  return [
    make("h3", {}, `Message m${message.seq}`),
    facts(
      ["said by", `${speakerOf(message)} (${message.role})`], ["at", when(message.at)],
      ["turn", make("a", { href: `#turn/${message.turn}` }, String(message.turn)), `, conversation ${message.conversation}`],
      ["tokens", number.format(message.tokens)],
      ["origin", `${message.origin}${message.detail ? ` (${message.detail})` : ""}, trust ${message.trust}`],
      ["lies in", page ? link(idOf(page)) : resident ? "the window" : ""],
      ["rewound", message.live ? "" : "it is not on the agent's line any more"],
    ),
    message.text && make("pre.text", {}, ...marked(message.text, words)),
    ...message.calls.map(([name, given]) => make("pre.text.call", {}, ...marked(`${name}(${pretty(given)})`, words))),
  ];
}

function pretty(json) {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

// --- search --------------------------------------------------------------------------------------

const wordsOf = (text) => text.split(/\s+/).filter(Boolean).map((word) => new RegExp(word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i"));

const holdsAll = (words, text) => words.every((word) => word.test(text));

/** The text with the words marked. */
function marked(text, words) {
  if (!words.length) return [text];
  const any = new RegExp(`(${words.map((word) => word.source).join("|")})`, "i");
  return text.split(any).map((piece, at) => (at % 2 ? make("mark", {}, piece) : piece));
}

/** A search box that says how much it found; `search(words)` resolves to that, or to null. */
function searchField(label, search, noun, ...beside) {
  const input = make("input", { type: "search", placeholder: label, "aria-label": label, autocomplete: "off", spellcheck: false });
  const found = make("span.quiet", { role: "status" });
  const form = make("form.search", { role: "search" }, input, ...beside, found);
  form.words = [];
  form.again = async () => {
    form.words = wordsOf(input.value);
    const amount = await search(form.words);
    if (amount !== null) found.textContent = count(amount, noun);
  };
  form.clear = () => {
    input.value = "";
    form.words = [];
    for (const choice of form.querySelectorAll("select")) choice.value = "";
    found.textContent = "";
  };
  let waiting = 0;
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(form.again, 80);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    form.again();
  });
  return form;
}
