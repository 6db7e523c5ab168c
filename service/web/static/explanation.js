// The panel of the trellis: the drawing, what it shows in words, and the reasons for one cell.

import { element } from "./dom.js";
import { featuresView } from "./features.js";
import { Lattice } from "./lattice.js";
import { probability, weight } from "./numbers.js";
import { meaning } from "./tags.js";
import { drawTrellis } from "./trellis.js";

const KEYS = "Point at a cell, or move with the arrow keys, to see how its score is made.";

// `answer` explains one sentence. Gives the nodes of the panel, and `choose` for one of its words.
export function explanationView(answer, architecture) {
  const lattice = new Lattice(answer);
  const isProduct = architecture === "hmm";
  const written = isProduct ? probability : weight;
  const reasons = element("div", { class: "reasons", id: "reasons", "aria-live": "polite" });
  const show = (t, j) => reasons.replaceChildren(...reasonsFor(lattice, t, j, isProduct, written));

  const likely = lattice.likelyTags();
  const all = lattice.tags.map((_, j) => j);
  const drawing = element("div");
  let rows = likely;
  let chosen = [0, lattice.best_path[0]];
  let trellis;
  const draw = () => {
    const onChoose = (t, j) => {
      chosen = [t, j];
      show(t, j);
    };
    trellis = drawTrellis(lattice, rows, written, { onPoint: show, onChoose });
    drawing.replaceChildren(trellis.node);
    trellis.choose(...(rows.includes(chosen[1]) ? chosen : [chosen[0], lattice.best_path[chosen[0]]]));
  };
  draw();

  const nodes = [
    drawing,
    legend(lattice),
    ...lattice.overrulings().map((overruling) => overrulingNote(lattice, overruling, isProduct, written)),
    element("p", { class: "note", id: "trellis-keys" }, KEYS),
    reasons,
  ];
  if (likely.length < all.length) {
    const fold = element("button", { type: "button", "aria-expanded": "false" }, foldName(all, likely, true));
    fold.addEventListener("click", () => {
      const folds = rows === all;
      rows = folds ? likely : all;
      fold.textContent = foldName(all, likely, folds);
      fold.setAttribute("aria-expanded", String(!folds));
      draw();
    });
    nodes.splice(1, 0, fold);
  }
  const choose = (t) => trellis.choose(t, lattice.best_path[t]);
  return { nodes, choose };
}

function foldName(all, likely, isFolded) {
  return isFolded ? `Show the ${all.length - likely.length} unlikely tags` : "Fold the unlikely tags";
}

function legend(lattice) {
  const entries = [
    ["path", "best path"],
    ["pointer", "back-pointer"],
    ["shade", "the darker, the nearer to the best of its column"],
  ];
  if (lattice.overruled.length) entries.push(["ahead", "ahead in its column, yet not taken"]);
  const items = entries.map(([kind, text]) =>
    element("li", {}, element("span", { class: `key-${kind}`, "aria-hidden": "true" }), text),
  );
  return element("ul", { class: "legend" }, ...items);
}

// Why the best path runs through a cell that another one of its column was ahead of.
function overrulingNote(lattice, { t, taken, ahead, then }, isProduct, written) {
  const [takenTag, aheadTag] = [lattice.tags[taken], lattice.tags[ahead]];
  const score = (j) => written(lattice.cells[t][j]);
  const note = element(
    "p",
    { class: "overruled" },
    element("strong", {}, `At “${lattice.words[t]}” ${aheadTag} is ahead: `),
    `${score(ahead)} against ${score(taken)} of ${takenTag}. `,
  );
  if (then === null) {
    note.append("What comes later decides for the best path.");
    return note;
  }
  const next = lattice.best_path[t + 1];
  const onward = next === undefined ? "to the end" : `to ${lattice.tags[next]} at “${lattice.words[t + 1]}”`;
  const way = (j, { step, score: total }) =>
    `${score(j)} ${isProduct ? "×" : "+"} ${written(step)} = ${written(total)}`;
  note.append(
    `But on the way ${onward}, ${takenTag} comes to ${way(taken, then.taken)}, and ${aheadTag} only to ${way(ahead, then.ahead)}.`,
  );
  return note;
}

function reasonsFor(lattice, t, j, isProduct, written) {
  const tag = lattice.tags[j];
  const heading = element(
    "h3",
    {},
    `${tag} at “${lattice.words[t]}”`,
    element("small", {}, meaning(tag)),
  );
  return [
    element("section", {}, heading, ...arithmetic(lattice, t, j, isProduct, written), ...waysIn(lattice, t, j, written)),
    featuresView(lattice, t, weight),
  ].filter((node) => node !== null);
}

function arithmetic(lattice, t, j, isProduct, written) {
  const score = lattice.cells[t][j];
  if (score === null) {
    const reason = lattice.emissions[t][j] === null
      ? `To this model, “${lattice.words[t]}” is never ${lattice.tags[j]}.`
      : "No path leads here.";
    return [element("p", {}, reason)];
  }
  const terms = lattice.terms(t, j);
  if (terms === null) {
    const why = "This network tells more states apart than there are tags; their steps are not shown.";
    return [element("p", {}, `The best path to here has the score ${written(score)}. ${why}`)];
  }
  const operator = isProduct ? "×" : "+";
  const rows = terms.map(([what, value], index) => row(index ? operator : "", what, written(value)));
  rows.push(row("=", isProduct ? "probability of the best path to here" : "score of the best path to here", written(score), "total"));
  return [element("table", { class: "sum" }, element("tbody", {}, ...rows))];
}

function row(operator, what, value, kind) {
  return element(
    "tr",
    { class: kind },
    element("td", {}, operator),
    element("th", { scope: "row" }, what),
    element("td", {}, value),
  );
}

function waysIn(lattice, t, j, written) {
  const ways = lattice.ways(t, j);
  if (ways.length < 2) return [];
  const [[best, top], ...others] = ways;
  const said = others.map(([tag, score]) => `${tag} ${written(score)}`).join(", ");
  return [
    element("p", { class: "note" }, `The back-pointer is ${best}, ${written(top)}. Next best: ${said}.`),
  ];
}
