// The page: what is typed and chosen is asked, and what is answered is shown.

import { annotate, forgetKey, hasKey, keepKey, models, Problem } from "./api.js";
import { Choices } from "./choices.js";
import { differences, summary } from "./compare.js";
import { copy } from "./copying.js";
import { byId, element } from "./dom.js";
import { EXAMPLES } from "./examples.js";
import { explanationView } from "./explanation.js";
import { entityText, taggedText } from "./highlight.js";
import { codeView, curl, json, python } from "./snippets.js";
import { linkWithText, readState, writeState } from "./state.js";
import { tableView } from "./table.js";
import { makeTabs } from "./tabs.js";
import { labelHues } from "./tags.js";

const DEBOUNCE_MS = 200;
const NO_MODEL = { title: "No model", detail: "No model of this task is loaded.", status: 0 };

const input = byId("text");
const panel = byId("panel");
let shown = null; // the text, the requests and the answers that are to be seen
let tab = "trellis";
let asking = new AbortController();
let explaining = new AbortController();
let timer = 0;

const choices = new Choices(() => update());
const selectTab = makeTabs(document.querySelector("[role=tablist]"), panel, (name) => {
  tab = name;
  if (shown) showPanel();
});

// Asks for what stands in the form. A later question ends an earlier one, so that no answer is
// ever written over a newer one.
async function update() {
  clearTimeout(timer);
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
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
    shown = { task, text, models: chosen, requests, answers, which: 0, sentence: 0, word: null };
    hideProblem();
    showAnswer();
  } catch (error) {
    if (!signal.aborted) showProblem(error);
  }
}

function clear() {
  shown = null;
  explaining.abort();
  document.body.classList.remove("asking");
  hideProblem();
  byId("answer").hidden = true;
}

function showAnswer() {
  const { task, text, models: asked, answers } = shown;
  const differing = differences(task, answers);
  const articles = answers.map((answer, index) => {
    const line = task === "ner"
      ? entityText(text, answer, labelHues(asked[index].labels), differing[index])
      : taggedText(text, answer, differing[index]);
    line.dir = getComputedStyle(input).direction; // `dir=auto` of the field has found it
    line.addEventListener("click", (event) => chooseWord(event, index));
    const heading = answers.length > 1 ? [element("h2", {}, answer.model.name)] : [];
    return element("article", { class: "card" }, ...heading, line);
  });
  byId("texts").replaceChildren(...articles);
  byId("texts").classList.toggle("two", articles.length === 2);
  byId("status").textContent = statusOf(task, answers, differing);
  byId("answer").hidden = false;
  document.body.classList.remove("asking");
  showPanel();
}

function statusOf(task, answers, differing) {
  if (answers.length === 2) return `${summary(task, differing)}.`;
  const [answer] = answers;
  const counts = [counted(answer.tokens.length, "word"), counted(answer.sentences.length, "sentence")];
  if (task === "ner") counts.unshift(counted(answer.spans.length, "entity", "entities"));
  return counts.join(", ");
}

const counted = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

function showPanel() {
  const { task, text, requests: [request], answers: [answer] } = shown;
  const url = new URL(task, location.href.split("#")[0]).href;
  explaining.abort();
  if (tab === "trellis") showTrellis();
  if (tab === "table") panel.replaceChildren(...tableView(task, text, answer));
  if (tab === "json") panel.replaceChildren(...codeView("JSON", json(answer)));
  if (tab === "curl") panel.replaceChildren(...codeView("curl", curl(url, request, hasKey())));
  if (tab === "python") panel.replaceChildren(...codeView("Python", python(url, request, hasKey())));
}

// Asks for the explanation of one sentence, as the words that it has.
async function showTrellis() {
  const { task, models: asked, answers, which, sentence, word } = shown;
  const answer = answers[which];
  explaining.abort();
  explaining = new AbortController();
  const { signal } = explaining;
  const { token_start: first, token_end: end } = answer.sentences[sentence] ?? {};
  if (first === end) {
    panel.replaceChildren(element("p", { class: "note" }, "There are no words."));
    return;
  }
  const words = answer.tokens.slice(first, end).map((token) => token.text);
  const request = { tokens: [words], model: asked[which].name, explain: true, marginals: true };
  try {
    const explained = await annotate(task, request, signal);
    if (signal.aborted) return;
    const { nodes, choose } = explanationView(explained, asked[which].architecture);
    panel.replaceChildren(...panelHead(), ...nodes);
    shown.explained = { which, first, end, choose };
    if (word !== null) choose(word - first);
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof Problem)) throw error;
    const note = element("p", { class: "note" }, `${error.title}: ${error.detail}`);
    panel.replaceChildren(...panelHead(), note);
  }
}

// Which model and which sentence the trellis is of, where there are several.
function panelHead() {
  const { text, answers, which, sentence } = shown;
  const { sentences, model } = answers[which];
  const head = answers.length > 1 ? [element("h2", {}, model.name)] : [];
  return sentences.length > 1 ? [...head, sentencePicker(text, sentences, sentence)] : head;
}

function sentencePicker(text, sentences, chosen) {
  const options = sentences.map(({ start, end }, index) =>
    element("option", { value: index, selected: index === chosen }, text.slice(start, end)),
  );
  const select = element("select", { id: "sentence" }, ...options);
  select.addEventListener("change", () => {
    shown.sentence = Number(select.value);
    shown.word = null;
    showTrellis();
  });
  return element("label", { class: "choice" }, "Sentence ", select);
}

// A click on a word of the text leads to its column of the trellis.
function chooseWord({ target }, index) {
  const word = target.closest("[data-token]");
  if (!word) return;
  const token = Number(word.dataset.token);
  const { which, first, end, choose } = shown.explained ?? {};
  if (tab === "trellis" && which === index && first <= token && token < end) {
    choose(token - first);
    return;
  }
  shown.which = index;
  shown.sentence = shown.answers[index].sentences.findIndex(({ token_end: last }) => token < last);
  shown.word = token;
  selectTab("trellis");
}

function showProblem(error) {
  clear();
  if (!(error instanceof Problem)) throw error;
  byId("key-form").hidden = error.status !== 401;
  if (error.status === 401) {
    const wasWrong = hasKey();
    forgetKey();
    byId("key").focus();
    if (!wasWrong) return;
  }
  byId("problem-title").textContent = error.title;
  byId("problem-detail").textContent = error.detail;
  byId("again").hidden = error.status !== 0 && error.status < 500;
  byId("problem").hidden = false;
}

function hideProblem() {
  byId("problem").hidden = true;
  byId("key-form").hidden = true;
}

async function start() {
  try {
    choices.models = await models();
    hideProblem();
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
byId("again").addEventListener("click", start);
byId("link").addEventListener("click", ({ currentTarget }) =>
  copy(currentTarget, linkWithText(choices.state, input.value)),
);
byId("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  keepKey(byId("key").value);
  byId("key").value = "";
  start();
});
selectTab(tab);
start();
