// The task and the models that are chosen.

import { byId, element } from "./dom.js";

const NONE = "";

export class Choices {
  #models = null;

  constructor(onChange) {
    this.radios = [...document.querySelectorAll("input[name=task]")];
    this.model = byId("model");
    this.other = byId("other");
    for (const radio of this.radios) {
      radio.addEventListener("change", () => {
        this.#fill(null, NONE);
        onChange();
      });
    }
    this.model.addEventListener("change", () => {
      this.#fillOther(this.other.value);
      onChange();
    });
    this.other.addEventListener("change", onChange);
  }

  set models(models) {
    this.#models = models;
  }

  get areKnown() {
    return this.#models !== null;
  }

  // A model that is not loaded, or of another task, is not taken.
  choose({ task, model = null, other = NONE }) {
    for (const radio of this.radios) radio.checked = radio.value === task;
    this.#fill(model, other);
  }

  get task() {
    return this.radios.find((radio) => radio.checked).value;
  }

  // Descriptions of the one or two models that are asked.
  get chosen() {
    return [this.model.value, this.other.value].map((name) => this.#named(name)).filter(Boolean);
  }

  get state() {
    return { task: this.task, model: this.model.value, other: this.other.value };
  }

  get #ofTask() {
    return (this.#models ?? []).filter((model) => model.task === this.task);
  }

  #named(name) {
    return this.#models?.find((model) => model.name === name);
  }

  #fill(model, other) {
    const models = this.#ofTask;
    this.model.replaceChildren(...models.map(option));
    const usable = models.filter(({ loaded }) => loaded);
    const first = usable.find(isFirst) ?? usable[0];
    const chosen = usable.find(({ name }) => name === model) ?? first;
    this.model.value = chosen?.name ?? NONE;
    this.#fillOther(other);
  }

  // Only models of the same tags can be compared.
  #fillOther(other) {
    const model = this.#named(this.model.value);
    const comparable = this.#ofTask.filter(
      ({ name, tagset }) => name !== model?.name && tagset === model?.tagset,
    );
    this.other.replaceChildren(element("option", { value: NONE }, "nothing"), ...comparable.map(option));
    const taken = comparable.some(({ name, loaded }) => name === other && loaded);
    this.other.value = taken ? other : NONE;
    this.other.disabled = !comparable.some(({ loaded }) => loaded);
  }
}

const isFirst = (model) => model.default && model.tagset !== "ud";

function option({ name, loaded }) {
  const attributes = { value: name, disabled: !loaded };
  return element("option", attributes, loaded ? name : `${name} (not loaded)`);
}
