// What went wrong, in the words of the service, and when it is tried again.

import { byId } from "./dom.js";

const FIRST_WAIT_S = 2;
const LONGEST_WAIT_S = 30;
const BY_ITSELF = "Your text is kept, and is asked again by itself.";

export class ProblemBox {
  #timer = 0;
  #tries = 0;

  constructor(onAgain) {
    this.onAgain = onAgain;
    byId("again").addEventListener("click", onAgain);
  }

  show(problem) {
    say("problem-title", problem.title);
    say("problem-detail", problem.detail);
    say("problem-note", problem.passesSoon ? BY_ITSELF : "");
    byId("again").hidden = !problem.mayPass;
    byId("problem").hidden = false;
    if (problem.passesSoon) this.#askLater(problem.retryAfterS);
  }

  hide() {
    byId("problem").hidden = true;
    this.#tries = 0;
  }

  get isWaiting() {
    return this.#timer !== 0;
  }

  // What is asked now need not be asked later.
  stopWaiting() {
    clearTimeout(this.#timer);
    this.#timer = 0;
  }

  // Each time twice as long, and never before the service wants it.
  #askLater(retryAfterS) {
    const wait = Math.min(FIRST_WAIT_S * 2 ** this.#tries, LONGEST_WAIT_S);
    this.#tries += 1;
    this.stopWaiting();
    this.#timer = setTimeout(this.onAgain, 1000 * Math.max(wait, retryAfterS));
  }
}

// A screen reader says again what is written again.
function say(id, text) {
  if (byId(id).textContent !== text) byId(id).textContent = text;
}
