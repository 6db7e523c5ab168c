// The page: what is typed and chosen is asked, and what is answered is shown.

import { annotate, forgetKey, hasKey, keepKey, models, Problem } from "./api.js";
import { Choices } from "./choices.js";
import { differences, summary } from "./compare.js";
import { copy } from "./copying.js";
import { byId, element } from "./dom.js";
import { EXAMPLES } from "./examples.js";
import { entityText, taggedText } from "./highlight.js";
import { grouped } from "./numbers.js";
import { Panel } from "./panel.js";
import { ProblemBox } from "./problem.js";
import { linkWithText, readState, writeState } from "./state.js";
import { labelHues } from "./tags.js";

const DEBOUNCE_MS = 200;
const NO_MODEL = { title: "No model", detail: "No model of this task is loaded.", status: 404 };

const input = byId("text");
const choices = new Choices(() => update());
const under = new Panel(document.querySelector("[role=tablist]"), byId("panel"));
const problem = new ProblemBox(() => start());
let asking = new AbortController();
let timer = 0;

// Asks for what stands in the form. A later question ends an earlier one, so that no answer is
// ever written over a newer one.
async function update() {
  clearTimeout(timer);
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  if (!choices.areKnown) return; // `start` asks when they are
  problem.stopWaiting();
  writeState(choices.state);
  const text = input.value;
  const { task, chosen } = choices;
  if (text.trim() === "") {
    clear();
    return;
  }
  if (chosen.length === 0) {
    showProblem(new Problem(NO_MODEL));
    return;
  }
  document.body.classList.add("asking");
  const requests = chosen.map(({ name }) => ({
    text,
    model: name,
    confidence: true,
    offset_unit: "utf16",
  }));
  try {
    const answers = await Promise.all(requests.map((request) => annotate(task, request, signal)));
    if (signal.aborted) return;
    hideProblem();
    showAnswer({ task, text, models: chosen, requests, answers });
  } catch (error) {
    if (!signal.aborted) showProblem(error);
  }
}

function clear() {
  under.clear();
  document.body.classList.remove("asking");
  hideProblem();
  byId("answer").hidden = true;
}

function showAnswer(shown) {
  const { task, text, models: asked, answers } = shown;
  const differing = differences(task, answers);
  const articles = answers.map((answer, index) => {
    const { line, note } = task === "ner"
      ? entityText(text, answer, labelHues(asked[index].labels), differing[index])
      : taggedText(text, answer, differing[index]);
    line.dir = getComputedStyle(input).direction; // `dir=auto` of the field has found it
    line.addEventListener("click", (event) => chooseWord(event, index));
    const heading = answers.length > 1 ? [element("h2", {}, answer.model.name)] : [];
    return element("article", { class: "card" }, ...heading, line, note);
  });
  byId("texts").replaceChildren(...articles);
  byId("texts").classList.toggle("two", articles.length === 2);
  byId("status").textContent = statusOf(task, answers, differing);
  byId("answer").hidden = false;
  document.body.classList.remove("asking");
  under.show(shown);
}

function statusOf(task, answers, differing) {
  if (answers.length === 2) return `${summary(task, differing)}.`;
  const [answer] = answers;
  const counts = [counted(answer.tokens.length, "word"), counted(answer.sentences.length, "sentence")];
  if (task === "ner") counts.unshift(counted(answer.spans.length, "entity", "entities"));
  return counts.join(", ");
}

const counted = (count, one, many = `${one}s`) => `${grouped(count)} ${count === 1 ? one : many}`;

// A click on a word of the text leads to its column of the trellis.
function chooseWord({ target }, which) {
  const word = target.closest("[data-token]");
  if (word) under.chooseWord(which, Number(word.dataset.token));
}

// What passes soon leaves the last answer where it is, faded.
function showProblem(error) {
  if (!(error instanceof Problem)) throw error;
  document.body.classList.remove("asking");
  if (!error.passesSoon) clear();
  byId("answer").inert = error.passesSoon;
  byId("key-form").hidden = error.status !== 401;
  if (error.status === 401) {
    const wasWrong = hasKey();
    forgetKey();
    byId("key").focus();
    if (!wasWrong) return;
  }
  problem.show(error);
}

function hideProblem() {
  problem.hide();
  byId("answer").inert = false;
  byId("key-form").hidden = true;
}

async function start() {
  problem.stopWaiting();
  try {
    choices.models = await models();
  } catch (error) {
    showProblem(error);
    return;
  }
  const { text, ...state } = readState();
  choices.choose(state);
  input.value ||= text ?? EXAMPLES.find(({ task }) => task === choices.task).text;
  update();
}

for (const { name, task, text, model } of EXAMPLES) {
  const button = element("button", { type: "button" }, name ?? text);
  button.addEventListener("click", () => {
    choices.choose({ task, model });
    input.value = text;
    update();
  });
  byId("examples").append(button);
}
input.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(update, DEBOUNCE_MS);
});
addEventListener("online", () => problem.isWaiting && start());
byId("link").addEventListener("click", ({ currentTarget }) =>
  copy(currentTarget, linkWithText(choices.state, input.value)),
);
byId("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  keepKey(byId("key").value);
  byId("key").value = "";
  start();
});
start();
