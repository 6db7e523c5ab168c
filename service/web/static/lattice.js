// What an explanation says of a sentence: numbers and their reasons, nothing drawn.
// `docs/api/explanations.md` has its members.

const FEW_TAGS = 10;
const UNLIKELY = 0.01;
const WAYS_SHOWN = 3;

// One sentence of an answer to `explain` and `marginals`.
export class Lattice {
  constructor(answer) {
    const { explanation } = answer;
    Object.assign(this, explanation.sentences[0]);
    this.tags = explanation.tags;
    this.start = explanation.start;
    this.transitions = explanation.transitions;
    this.end = explanation.end;
    this.candidates = explanation.tokens;
    this.words = answer.tokens.map((token) => token.text);
    this.marginals = answer.tokens.map((token) => token.marginals);
    this.winners = this.cells.map(winner);
  }

  onBestPath(t, j) {
    return this.best_path[t] === j;
  }

  // Tags that are nowhere likely can be folded; those that the drawing tells of never are.
  likelyTags() {
    const all = this.tags.map((_, j) => j);
    if (this.tags.length <= FEW_TAGS) return all;
    const told = new Set([...this.best_path, ...this.winners]);
    return all.filter(
      (j) => told.has(j) || this.marginals.some((row) => row?.[this.tags[j]] >= UNLIKELY),
    );
  }

  // Whether several states bear one tag: a step between tags has no score then.
  get hasHiddenStates() {
    return this.transitions === null;
  }

  // The terms of the score of a cell that is possible, as [what, score].
  terms(t, j) {
    const tag = this.tags[j];
    const said = [`“${this.words[t]}” as ${tag}`, this.emissions[t][j]];
    const begins = `a sentence begins with ${tag}`;
    if (this.hasHiddenStates) {
      const way = t === 0 ? begins : `best path by ${this.#before(t, j)} to ${tag}`;
      return [[way, this.cells[t][j] - this.emissions[t][j]], said];
    }
    if (t === 0) return [[begins, this.start[j]], said];
    const i = this.back_pointers[t][j];
    return [
      [`best path to ${this.#before(t, j)}`, this.cells[t - 1][i]],
      [`${tag} after ${this.tags[i]}`, this.transitions[i][j]],
      said,
    ];
  }

  // The tag and the word that a back-pointer leads to, in words.
  #before(t, j) {
    return `${this.tags[this.back_pointers[t][j]]} at “${this.words[t - 1]}”`;
  }

  // The best ways into a cell, as [tag before, score]; the first is its back-pointer.
  ways(t, j) {
    if (t === 0 || this.hasHiddenStates || this.cells[t][j] === null) return [];
    return this.cells[t - 1]
      .map((cell, i) => [i, sum(cell, this.transitions[i][j], this.emissions[t][j])])
      .filter(([, score]) => score !== null)
      .sort(([, a], [, b]) => b - a)
      .slice(0, WAYS_SHOWN)
      .map(([i, score]) => [this.tags[i], score]);
  }

  // Where the best path is not in its column's best cell: both, and what decided between them.
  // `then` is null where the steps between tags are not known.
  overrulings() {
    return this.overruled.map((t) => {
      const [taken, ahead] = [this.best_path[t], this.winners[t]];
      return {
        t,
        taken,
        ahead,
        then: this.hasHiddenStates ? null : {
          taken: this.#onward(t, taken),
          ahead: this.#onward(t, ahead),
        },
      };
    });
  }

  // The score of the step from a cell to what comes next on the best path, and with it.
  #onward(t, i) {
    const next = this.best_path[t + 1];
    const step = next === undefined ? this.end[i] : this.transitions[i][next];
    return { step, score: sum(this.cells[t][i], step) };
  }
}

function winner(row) {
  return row.reduce((best, cell, j) => (cell !== null && cell > (row[best] ?? -Infinity) ? j : best), 0);
}

// Null is minus infinity.
const sum = (...scores) => (scores.includes(null) ? null : scores.reduce((a, b) => a + b));
