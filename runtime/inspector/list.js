// A list of any length: only the rows in sight are in the page. Rows have one height; a browser
// refuses boxes of more than some million pixels, so that a longer list scrolls in proportion.

const TALLEST = 8_000_000; // pixels
const SPARE = 8; // rows above and below those in sight

class List {
  /** `draw(item, index)` gives the children of a row, `open(item)` is called for the chosen one. */
  constructor({ label, draw, open, empty = "Nothing here." }) {
    this.items = [];
    this.chosen = -1;
    this.draw = draw;
    this.open = open;
    this.name = `list-${(List.made = (List.made ?? 0) + 1)}`;
    this.rows = make("div.rows");
    this.tall = make("div.tall", {}, this.rows);
    this.empty = make("p.empty", { hidden: true }, empty);
    this.box = make(
      "div.list",
      { role: "listbox", tabIndex: 0, "aria-label": label },
      this.tall,
    );
    this.element = make("div.list-frame", {}, this.box, this.empty);
    this.box.addEventListener("scroll", () => this.show(), { passive: true });
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.box.addEventListener("click", (event) => {
      const row = event.target.closest("[role=option]");
      if (row) this.choose(Number(row.dataset.index), true);
    });
    new ResizeObserver(() => this.show()).observe(this.box);
  }

  get height() {
    this.measured ??= parseFloat(getComputedStyle(this.box).getPropertyValue("--row"));
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    return this.measured * rem;
  }

  set(items, chosen = -1) {
    this.items = items;
    this.chosen = chosen;
    this.empty.hidden = items.length > 0;
    this.box.hidden = items.length === 0;
    this.tall.style.height = `${Math.min(TALLEST, items.length * this.height)}px`;
    if (chosen < 0) this.box.scrollTop = 0;
    this.show();
    if (chosen >= 0) this.reveal(chosen);
  }

  /** How many pixels of the list one pixel of scrolling stands for. */
  get ratio() {
    const whole = this.items.length * this.height - this.box.clientHeight;
    const tall = Math.min(TALLEST, this.items.length * this.height) - this.box.clientHeight;
    return tall > 0 ? Math.max(1, whole / tall) : 1;
  }

  show() {
    const { height, box, ratio } = this;
    if (!box.clientHeight) return;
    const at = box.scrollTop * ratio;
    const first = Math.max(0, Math.floor(at / height) - SPARE);
    const last = Math.min(this.items.length, Math.ceil((at + box.clientHeight) / height) + SPARE);
    const rows = [];
    for (let index = first; index < last; index++) rows.push(this.row(index));
    this.rows.style.transform = `translateY(${box.scrollTop - at + first * height}px)`;
    this.rows.replaceChildren(...rows);
    if (this.chosen >= first && this.chosen < last) {
      box.setAttribute("aria-activedescendant", `${this.name}-${this.chosen}`);
    } else box.removeAttribute("aria-activedescendant");
  }

  row(index) {
    const item = this.items[index];
    const row = make("div.row", {
      id: `${this.name}-${index}`,
      role: "option",
      "aria-selected": String(index === this.chosen),
      "aria-setsize": this.items.length,
      "aria-posinset": index + 1,
    });
    row.dataset.index = index;
    if (item === undefined) row.append("…");
    else row.append(...this.draw(item, row).filter(Boolean));
    return row;
  }

  reveal(index) {
    const { height, box, ratio } = this;
    const top = index * height;
    const at = box.scrollTop * ratio;
    if (top < at) box.scrollTop = top / ratio;
    else if (top + height > at + box.clientHeight) {
      box.scrollTop = (top + height - box.clientHeight) / ratio;
    }
    this.show();
  }

  choose(index, open = false) {
    if (!this.items.length) return;
    this.chosen = Math.max(0, Math.min(this.items.length - 1, index));
    this.reveal(this.chosen);
    const item = this.items[this.chosen];
    if (item !== undefined) this.open(item, open);
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const screen = Math.max(1, Math.floor(this.box.clientHeight / this.height) - 1);
    const to = {
      ArrowDown: this.chosen + 1,
      ArrowUp: Math.max(0, this.chosen - 1),
      PageDown: this.chosen + screen,
      PageUp: this.chosen - screen,
      Home: 0,
      End: this.items.length - 1,
    }[event.key];
    if (to !== undefined) this.choose(to);
    else if (event.key === "Enter" || event.key === " ") this.choose(this.chosen, true);
    else return;
    event.preventDefault();
  }
}

/** A list beside what is chosen in it. */
function sideBySide(list, title) {
  const detail = make("article.detail", { tabIndex: -1, "aria-label": title });
  return { element: make("div.split", {}, list.element, detail), detail };
}

/** Show something in the detail; `move` goes there, for who reads on or has a narrow window. */
function showDetail(detail, children, move) {
  detail.replaceChildren(...children.flat().filter(Boolean));
  detail.scrollTop = 0;
  if (move) {
    detail.focus({ preventScroll: true });
    detail.scrollIntoView({ block: "nearest" });
  }
}
