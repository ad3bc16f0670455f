// What changed between two texts, by words: Myers' greedy algorithm, with a bound.

const FARTHEST = 600; // edits; texts further apart are shown as one replaced by the other

/** Runs of ["same" | "old" | "new", text]. */
function difference(before, after) {
  const old = before.match(/\s+|[^\s]+/g) ?? [];
  const now = after.match(/\s+|[^\s]+/g) ?? [];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (
    end < old.length - start &&
    end < now.length - start &&
    old[old.length - 1 - end] === now[now.length - 1 - end]
  ) end++;
  return merged([
    ...old.slice(0, start).map((word) => ["same", word]),
    ...shortest(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...old.slice(old.length - end).map((word) => ["same", word]),
  ]);
}

function shortest(old, now) {
  const edges = [];
  let reached = new Map([[1, 0]]);
  for (let edits = 0; edits <= Math.min(FARTHEST, old.length + now.length); edits++) {
    edges.push(new Map(reached));
    for (let line = -edits; line <= edits; line += 2) {
      const down =
        line === -edits ||
        (line !== edits && (reached.get(line - 1) ?? -1) < (reached.get(line + 1) ?? -1));
      let x = down ? (reached.get(line + 1) ?? 0) : reached.get(line - 1) + 1;
      while (x < old.length && x - line < now.length && old[x] === now[x - line]) x++;
      reached.set(line, x);
      if (x >= old.length && x - line >= now.length) return walked(edges, old, now);
    }
  }
  return [...old.map((word) => ["old", word]), ...now.map((word) => ["new", word])];
}

/** The way back from the end. */
function walked(edges, old, now) {
  const steps = [];
  let x = old.length;
  let y = now.length;
  for (let edits = edges.length - 1; edits >= 0; edits--) {
    const reached = edges[edits];
    const line = x - y;
    const down =
      line === -edits ||
      (line !== edits && (reached.get(line - 1) ?? -1) < (reached.get(line + 1) ?? -1));
    const from = down ? line + 1 : line - 1;
    const fromX = reached.get(from) ?? 0;
    while (x > fromX && y > fromX - from) {
      steps.push(["same", old[--x]]);
      y--;
    }
    if (!edits) break;
    if (down) steps.push(["new", now[--y]]);
    else steps.push(["old", old[--x]]);
  }
  return steps.reverse();
}

function merged(steps) {
  const runs = [];
  for (const [kind, word] of steps) {
    if (runs.at(-1)?.[0] === kind) runs.at(-1)[1] += word;
    else runs.push([kind, word]);
  }
  return runs;
}

/** The difference as text: removed and added marked by more than a colour. */
function compared(before, after) {
  const tags = { same: "span", old: "del", new: "ins" };
  return make(
    "pre.text",
    {},
    ...difference(before, after).map(([kind, text]) => make(tags[kind], {}, text)),
  );
}
