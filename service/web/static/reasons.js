// The reasons for the score of a cell, and for the best path where another cell was ahead, in words.

import { element } from "./dom.js";
import { meaning } from "./tags.js";

// How the score of a cell is made, and what other ways into it there are.
export function cellReasons(lattice, t, j, numbers) {
  const [tag, word] = [lattice.tags[j], lattice.words[t]];
  const heading = element("h3", {}, `${tag} at “${word}”`, element("small", {}, meaning(tag)));
  if (lattice.cells[t][j] === null) {
    const never = lattice.emissions[t][j] === null;
    const why = never ? `To this model, “${word}” is never ${tag}.` : "No path leads here.";
    return [heading, element("p", {}, why)];
  }
  const ways = lattice.hasHiddenStates ? [hidden()] : waysIn(lattice.ways(t, j), numbers);
  return [heading, arithmetic(lattice, t, j, numbers), ...ways];
}

// Why the best path runs through a cell that another one of its column was ahead of.
export function overrulingNote(lattice, { t, taken, ahead, then }, numbers) {
  const [takenTag, aheadTag] = [lattice.tags[taken], lattice.tags[ahead]];
  const score = (j) => numbers.written(lattice.cells[t][j]);
  const title = element("strong", {}, `At “${lattice.words[t]}” ${aheadTag} is ahead: `);
  const lead = `${score(ahead)} against ${score(taken)} of ${takenTag}. `;
  const note = element("p", { class: "overruled" }, title, lead);
  if (then === null) {
    note.append("What comes later decides for the best path.");
    return note;
  }
  const next = lattice.tags[lattice.best_path[t + 1]];
  const onward = next ? `to ${next} at “${lattice.words[t + 1]}”` : "to the end";
  const way = (j, { step, score: total }) =>
    `${score(j)} ${numbers.joined(step)} = ${numbers.written(total)}`;
  const other = then.ahead.score === null
    ? `${aheadTag} cannot go there`
    : `${aheadTag} only comes to ${way(ahead, then.ahead)}`;
  note.append(`But on the way ${onward}, ${takenTag} comes to ${way(taken, then.taken)}; ${other}.`);
  return note;
}

function arithmetic(lattice, t, j, numbers) {
  const score = numbers.written(lattice.cells[t][j]);
  const rows = lattice.terms(t, j).map(([what, value], index) =>
    row(index ? numbers.operator : "", what, numbers.written(value)),
  );
  const total = row("=", numbers.total, score, "total");
  return element("table", { class: "sum" }, element("tbody", {}, ...rows, total));
}

function row(operator, what, value, kind = null) {
  const name = element("th", { scope: "row" }, what);
  return element("tr", { class: kind }, element("td", {}, operator), name, element("td", {}, value));
}

function waysIn([back, ...others], { written }) {
  if (others.length === 0) return [];
  const [tag, score] = back;
  const said = others.map(([other, its]) => `${other} ${written(its)}`).join(", ");
  const note = `The back-pointer is ${tag}, ${written(score)}. Next best: ${said}.`;
  return [element("p", { class: "note" }, note)];
}

function hidden() {
  const note =
    "This network has several states for a tag: the path before and the step are one number.";
  return element("p", { class: "note" }, note);
}
