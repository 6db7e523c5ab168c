// Runs wink-nlp's tokenizer and part-of-speech tagger: TEXTS. See ../protocol.py.
"use strict";

const fs = require("fs");
const readline = require("readline");
const winkNLP = require("wink-nlp");
const model = require("wink-eng-lite-web-model");

const texts = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const nlp = winkNLP(model, ["pos"]);
const its = nlp.its;
const versionOf = (name) => require(`${name}/package.json`).version;

function tags(text) {
  return nlp.readDoc(text).tokens().out(its.pos);
}

// One answer a text, all of them kept, as the other programs do.
function batch(set) {
  const cpu = process.cpuUsage();
  const wall = process.hrtime.bigint();
  const answers = set.map(tags);
  const wallS = Number(process.hrtime.bigint() - wall) / 1e9;
  const used = process.cpuUsage(cpu); // of all threads, in microseconds
  const found = answers.reduce((sum, answer) => sum + answer.length, 0);
  return { cpu_s: (used.user + used.system) / 1e6, wall_s: wallS, found };
}

function each(set) {
  const times = set.map((text) => {
    const start = process.hrtime.bigint();
    tags(text);
    return Number(process.hrtime.bigint() - start) / 1000;
  });
  return { times_us: times };
}

function answer(value) {
  process.stdout.write(JSON.stringify(value) + "\n");
}

answer({
  versions: {
    Node: process.versions.node,
    "wink-nlp": versionOf("wink-nlp"),
    "wink-eng-lite-web-model": versionOf("wink-eng-lite-web-model"),
  },
});
readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const [command, name] = line.trim().split(" ");
  answer(command === "batch" ? batch(texts[name]) : each(texts[name]));
});
