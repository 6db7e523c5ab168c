// What stands under the text: an answer as the chosen tab has it, and where two models were asked,
// of the chosen one.

import { annotate, hasKey, Problem } from "./api.js";
import { byId, element } from "./dom.js";
import { explanationView } from "./explanation.js";
import { codeView, curl, json, python } from "./snippets.js";
import { tableView } from "./table.js";
import { makeTabs } from "./tabs.js";

const LONGEST_OPTION = 80;

export class Panel {
  #node;
  #selectTab;
  #tab = "trellis";
  #shown = null; // what was asked, of which models, and what they answered
  #which = 0; // of the models
  #sentence = 0;
  #word = null;
  #explained = null; // the words that the trellis has, and how one is chosen
  #explaining = new AbortController();

  constructor(tabs, node) {
    this.#node = node;
    this.#selectTab = makeTabs(tabs, node, (name) => {
      this.#tab = name;
      if (this.#shown) this.#draw();
    });
    this.#selectTab(this.#tab);
  }

  show(shown) {
    this.#shown = shown;
    this.#which = Math.min(this.#which, shown.answers.length - 1);
    this.#sentence = 0;
    this.#word = null;
    this.#draw();
  }

  clear() {
    this.#shown = null;
    this.#explaining.abort();
  }

  // A word of the text leads to its column of the trellis.
  chooseWord(which, token) {
    const { which: drawn, first, end, choose } = this.#explained ?? {};
    if (this.#tab === "trellis" && drawn === which && first <= token && token < end) {
      choose(token - first);
      return;
    }
    const { sentences } = this.#shown.answers[which];
    this.#which = which;
    this.#sentence = sentences.findIndex(({ token_end: last }) => token < last);
    this.#word = token;
    this.#selectTab("trellis");
  }

  #draw() {
    const { task, text, requests, answers } = this.#shown;
    const [request, answer] = [requests[this.#which], answers[this.#which]];
    const url = new URL(task, location.href.split("#")[0]).href;
    this.#explaining.abort();
    if (this.#tab === "trellis") this.#drawTrellis();
    if (this.#tab === "table") this.#replace(tableView(task, text, answer));
    if (this.#tab === "json") this.#replace(codeView("JSON", json(answer)));
    if (this.#tab === "curl") this.#replace(codeView("curl", curl(url, request, hasKey())));
    if (this.#tab === "python") this.#replace(codeView("Python", python(url, request, hasKey())));
  }

  // Asks for the explanation of one sentence, as the words that it has.
  async #drawTrellis() {
    const { task, models, answers } = this.#shown;
    const which = this.#which;
    this.#explaining.abort();
    this.#explaining = new AbortController();
    this.#explained = null;
    const { signal } = this.#explaining;
    const { name, architecture } = models[which];
    const { token_start: first, token_end: end } = answers[which].sentences[this.#sentence] ?? {};
    if (first === end) {
      this.#replace([element("p", { class: "note" }, "There are no words.")]);
      return;
    }
    const words = answers[which].tokens.slice(first, end).map((token) => token.text);
    const request = { tokens: [words], model: name, explain: true, marginals: true };
    try {
      const explained = await annotate(task, request, signal);
      if (signal.aborted) return;
      const { nodes, choose } = explanationView(explained, architecture);
      this.#replace([...this.#sentencePicker(), ...nodes]);
      this.#explained = { which, first, end, choose };
      if (this.#word !== null) choose(this.#word - first);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Problem)) throw error;
      this.#replace([...this.#sentencePicker(), ...this.#failure(error)]);
    }
  }

  #failure({ title, detail, mayPass }) {
    const note = element("p", { class: "note" }, `${title}: ${detail}`);
    if (!mayPass) return [note];
    const again = element("button", { type: "button", id: "trellis-again" }, "Try again");
    again.addEventListener("click", () => this.#drawTrellis());
    return [note, again];
  }

  // What is drawn anew has lost the focus: who operates it goes on where they were.
  #replace(nodes) {
    const focused = this.#node.contains(document.activeElement) ? document.activeElement.id : "";
    this.#node.replaceChildren(...this.#modelPicker(), ...nodes);
    if (focused) byId(focused)?.focus();
  }

  #modelPicker() {
    const { models } = this.#shown;
    if (models.length < 2) return [];
    const names = models.map(({ name }) => name);
    return [picker("which", "Answer of", names, this.#which, (index) => {
      this.#which = index;
      this.#word = null;
      this.#draw();
    })];
  }

  #sentencePicker() {
    const { text, answers } = this.#shown;
    const { sentences } = answers[this.#which];
    if (sentences.length < 2) return [];
    const names = sentences.map(({ start, end }) => beginning(text.slice(start, end)));
    return [picker("sentence", "Sentence", names, this.#sentence, (index) => {
      this.#sentence = index;
      this.#word = null;
      this.#drawTrellis();
    })];
  }
}

function picker(id, label, names, chosen, onChange) {
  const options = names.map((name, index) =>
    element("option", { value: index, selected: index === chosen }, name),
  );
  const select = element("select", { id }, ...options);
  select.addEventListener("change", () => onChange(Number(select.value)));
  return element("label", { class: "choice" }, label, " ", select);
}

const beginning = (text) =>
  text.length <= LONGEST_OPTION ? text : `${text.slice(0, LONGEST_OPTION)}…`;
