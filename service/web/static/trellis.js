// The drawing of a lattice: a column a word, a row a tag. It is one stop of the keyboard, within
// which the arrow keys move; each cell tells a screen reader what it shows.

import { element, svg } from "./dom.js";

const COLUMN = 104;
const ROW = 38;
const HEAD = 34;
const CELL = { width: 72, height: 28 };
const LABELS = 66;
const FADE = 3; // a cell this many nats behind its column's best has a third of its shade
const LONGEST_WORD = 13;

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// `rows` are the tags that are drawn, `written` writes a score; `onPoint` and `onChoose` are
// called with the word and tag of a cell that is pointed at, or chosen.
export function drawTrellis(lattice, rows, written, { onPoint, onChoose }) {
  const place = new Map(rows.map((tag, row) => [tag, row]));
  const size = {
    width: lattice.words.length * COLUMN,
    height: HEAD + rows.length * ROW,
  };
  const cells = new Map();
  const body = rows.map((j) => {
    const drawn = lattice.words.map((_, t) => {
      const cell = drawCell(lattice, t, j, place.get(j), written);
      cells.set(key(t, j), cell);
      return cell;
    });
    return svg("g", { role: "row", "aria-label": lattice.tags[j] }, ...drawn);
  });
  const grid = svg(
    "svg",
    { ...size, role: "grid", "aria-label": "Trellis", "aria-describedby": "trellis-keys" },
    lines(lattice, place),
    svg("g", { role: "row" }, ...lattice.words.map((word, t) => heading(word, t, lattice.best_path[t]))),
    ...body,
  );

  let chosen = null;
  const choose = (t, j) => {
    const cell = cells.get(key(t, j));
    if (chosen) markChosen(chosen, false);
    chosen = cell;
    markChosen(cell, true);
    requestAnimationFrame(() => showColumn(node, t)); // when it has its place in the page
    onChoose(t, j);
    return cell;
  };

  grid.addEventListener("click", ({ target }) => {
    const at = target.closest("[data-t]");
    if (at) choose(Number(at.dataset.t), Number(at.dataset.j)).focus();
  });
  // A mouse that moves points; one that rests, while the keyboard scrolls the page, does not.
  let pointed = null;
  grid.addEventListener("pointermove", ({ target, pointerType }) => {
    const at = target.closest("[data-t]");
    if (!at || at === pointed || pointerType !== "mouse") return;
    pointed = at;
    onPoint(Number(at.dataset.t), Number(at.dataset.j));
  });
  grid.addEventListener("pointerleave", () => {
    if (pointed) onPoint(Number(chosen.dataset.t), Number(chosen.dataset.j));
    pointed = null;
  });
  grid.addEventListener("keydown", (event) => {
    const at = event.target.closest("[data-t]");
    if (!at || !ARROWS[event.key]) return;
    event.preventDefault();
    const [right, down] = ARROWS[event.key];
    const t = Number(at.dataset.t) + right;
    const j = rows[place.get(Number(at.dataset.j)) + down];
    if (cells.has(key(t, j))) choose(t, j).focus();
  });

  const node = element("div", { class: "lattice" }, labels(lattice, rows, size.height), grid);
  return { node, choose };
}

const key = (t, j) => `${t} ${j}`;

// Scrolls a column into sight, from under the tags too. The page itself stays where it is.
function showColumn(node, t) {
  const [left, right] = [t * COLUMN, LABELS + (t + 1) * COLUMN - node.clientWidth];
  node.scrollLeft = Math.min(left, Math.max(right, node.scrollLeft));
}

function markChosen(cell, is) {
  cell.setAttribute("aria-selected", String(is));
  cell.setAttribute("tabindex", is ? "0" : "-1");
}

// The tags stay where they are while the columns scroll. Cells say them too.
function labels(lattice, rows, height) {
  const texts = rows.map((j, row) =>
    svg("text", { x: LABELS - 12, y: middle(row), "text-anchor": "end" }, lattice.tags[j]),
  );
  return svg("svg", { class: "tags", width: LABELS, height, "aria-hidden": "true" }, ...texts);
}

// A click on a word chooses the best path's cell under it.
function heading(word, t, j) {
  const letters = [...word];
  const isLong = letters.length > LONGEST_WORD;
  const shown = isLong ? `${letters.slice(0, LONGEST_WORD - 1).join("")}…` : word;
  const text = svg("text", { x: centre(t), y: HEAD / 2, "text-anchor": "middle" }, shown);
  return svg("g", { role: "columnheader", "data-t": t, "data-j": j }, text, svg("title", {}, word));
}

function drawCell(lattice, t, j, row, written) {
  const score = lattice.cells[t][j];
  const best = lattice.onBestPath(t, j);
  const ahead = lattice.overruled.includes(t) && lattice.winners[t] === j;
  const state = best ? "best" : ahead ? "ahead" : score === null ? "never" : "possible";
  const rect = svg("rect", {
    x: centre(t) - CELL.width / 2,
    y: middle(row) - CELL.height / 2,
    ...CELL,
    rx: 6,
  });
  if (state === "possible" || state === "ahead") {
    rect.setAttribute("fill-opacity", shade(lattice, t, j));
  }
  const shown = score === null ? "·" : written(score, 1);
  return svg(
    "g",
    {
      role: "gridcell",
      tabindex: -1,
      class: `cell ${state}`,
      "aria-selected": "false",
      "aria-label": said(lattice, t, j, state, written),
      "data-t": t,
      "data-j": j,
    },
    rect,
    svg("text", { x: centre(t), y: middle(row), "text-anchor": "middle" }, shown),
  );
}

function said(lattice, t, j, state, written) {
  const score = lattice.cells[t][j];
  const value = score === null ? "impossible" : written(score, 1);
  const where = `${lattice.tags[j]} at ${lattice.words[t]}: ${value}`;
  if (state === "ahead") return `${where}, ahead in its column, not taken`;
  if (state !== "best") return where;
  return `${where}, best path${lattice.overruled.includes(t) ? ", not ahead in its column" : ""}`;
}

// How strong a cell is drawn: by how far it is behind the best cell of its column.
function shade(lattice, t, j) {
  const behind = lattice.cells[t][lattice.winners[t]] - lattice.cells[t][j];
  return (0.04 + 0.5 * Math.exp(-behind / FADE)).toFixed(3);
}

// Back-pointers, and over them the best path.
function lines(lattice, place) {
  const pointers = [];
  const path = [];
  for (let t = 1; t < lattice.words.length; t += 1) {
    for (const [j, row] of place) {
      const i = lattice.back_pointers[t][j];
      if (i === null || !place.has(i) || lattice.cells[t][j] === null) continue;
      const isBest = lattice.onBestPath(t, j);
      const line = svg("line", {
        class: isBest ? "path" : "pointer",
        x1: centre(t - 1) + CELL.width / 2,
        y1: middle(place.get(i)),
        x2: centre(t) - CELL.width / 2,
        y2: middle(row),
      });
      (isBest ? path : pointers).push(line);
    }
  }
  return svg("g", { "aria-hidden": "true" }, ...pointers, ...path);
}

const centre = (t) => t * COLUMN + CELL.width / 2 + 4;
const middle = (row) => HEAD + row * ROW + ROW / 2;
