// How scores are written: probabilities of an HMM as such, scores of other models as they are.

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const SMALLEST_PLAIN = Math.log(0.001);

// A probability given by its logarithm: 0.2767, 8.9×10⁻⁶. It may be far below what a double holds.
export function probability(log, digits = 2) {
  if (log === null) return "0";
  if (log >= SMALLEST_PLAIN) return Math.exp(log).toFixed(4);
  const decimal = log / Math.LN10;
  let exponent = Math.floor(decimal);
  let mantissa = (10 ** (decimal - exponent)).toFixed(digits);
  if (mantissa.startsWith("10")) {
    mantissa = (1).toFixed(digits);
    exponent += 1;
  }
  return `${mantissa}×10⁻${superscript(-exponent)}`;
}

// A sum of weights: −1.10.
export function weight(score) {
  if (score === null) return "−∞";
  return score.toFixed(2).replace("-", "−");
}

// How the terms of a cell are joined: probabilities are multiplied, weights are added.
export function notation(architecture) {
  if (architecture === "hmm") {
    const joined = (log) => `× ${probability(log)}`;
    return { written: probability, operator: "×", joined, total: "its probability" };
  }
  const joined = (score) => (score < 0 ? `− ${weight(-score)}` : `+ ${weight(score)}`);
  return { written: weight, operator: "+", joined, total: "its score" };
}

export const percent = (share) => `${(100 * share).toFixed(share < 0.995 ? 0 : 1)} %`;

// 12,345: the page is in English.
export const grouped = (count) => count.toLocaleString("en");

const superscript = (number) => [...String(number)].map((digit) => SUPERSCRIPTS[digit]).join("");
