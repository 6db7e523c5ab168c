// The panel of the trellis: the drawing, what it shows in words, and the reasons for one cell.

import { element } from "./dom.js";
import { featuresView } from "./features.js";
import { Lattice } from "./lattice.js";
import { notation } from "./numbers.js";
import { cellReasons, overrulingNote } from "./reasons.js";
import { drawTrellis } from "./trellis.js";

const KEYS = "Point at a cell, click a word or use the arrow keys to see how a score is made.";
const NOTES_SHOWN = 2;

// `answer` explains one sentence. Gives the nodes of the panel, and `choose` for one of its words.
export function explanationView(answer, architecture) {
  const lattice = new Lattice(answer);
  const numbers = notation(architecture);
  const reasons = element("div", { class: "reasons", "aria-live": "polite" });
  const features = element("div", { class: "features" });
  const drawing = element("div", { class: "drawing" });
  const fold = element("button", { type: "button" });
  const keys = element("p", { class: "note", id: "trellis-keys" }, KEYS);
  const likely = lattice.likelyTags();
  const all = lattice.tags.map((_, j) => j);
  fold.hidden = likely.length === all.length;
  const first = lattice.overruled[0] ?? 0; // where there is most to see
  let chosen = [first, lattice.best_path[first]];
  let trellis = null;

  const onPoint = (t, j) => {
    reasons.replaceChildren(...cellReasons(lattice, t, j, numbers));
    features.replaceChildren(...featuresView(lattice, t));
  };
  const onChoose = (t, j) => {
    chosen = [t, j];
    onPoint(t, j);
  };
  const draw = (rows) => {
    trellis = drawTrellis(lattice, rows, numbers.written, { onPoint, onChoose });
    drawing.replaceChildren(trellis.node, fold, legend(lattice), keys);
    const [t, j] = chosen;
    trellis.choose(t, rows.includes(j) ? j : lattice.best_path[t]);
  };
  const setFolded = (isFolded) => {
    const name = `Show the ${all.length - likely.length} unlikely tags`;
    fold.textContent = isFolded ? name : "Fold the unlikely tags";
    fold.onclick = () => {
      setFolded(!isFolded);
      fold.focus(); // drawn anew, it has lost it
    };
    draw(isFolded ? likely : all);
  };
  setFolded(true);

  const notes = lattice.overrulings().map((one) => overrulingNote(lattice, one, numbers));
  const nodes = [
    element("div", { class: "why" }, drawing, reasons),
    ...notes.slice(0, NOTES_SHOWN),
    ...folded(notes.slice(NOTES_SHOWN)),
    features,
  ];
  return { nodes, choose: (t) => trellis.choose(t, lattice.best_path[t]) };
}

function folded(notes) {
  if (notes.length === 0) return [];
  return [element("details", {}, element("summary", {}, `${notes.length} more columns`), ...notes)];
}

function legend(lattice) {
  const entries = [
    ["path", "best path"],
    ["pointer", "back-pointer"],
    ["shade", "the stronger, the nearer to the best of its column"],
  ];
  if (lattice.overruled.length) entries.push(["ahead", "ahead in its column, yet not taken"]);
  const items = entries.map(([kind, text]) =>
    element("li", {}, element("span", { class: `key-${kind}`, "aria-hidden": "true" }), text),
  );
  return element("ul", { class: "legend" }, ...items);
}
