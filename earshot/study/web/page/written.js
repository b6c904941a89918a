// What a rater writes on a trial: what they heard, or a comment. Lengths are those of
// earshot.study.design.scales.

import { h, paragraphs } from "./dom.js";
import { t } from "./text.js";

const MAX_SENTENCE = 500; // characters
const MAX_COMMENT = 1000; // characters

// What was heard.
export function write({ name, question, guidelines: text }, place, onchange) {
  const input = h("input", {
    type: "text", maxlength: MAX_SENTENCE, autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    "aria-label": question, oninput: onchange,
  });
  return {
    name,
    element: h("fieldset", { class: "answers written", disabled: true },
      h("legend", {}, h(place ? "h2" : "h1", {}, question)), guidelines(text, name), input),
    get answer() { return input.value.trim() || null; },
    set answer(value) { input.value = value ?? ""; },
  };
}

// What the author says of a scale, or of the whole trial (name ""): read while one judges. Folded on
// a phone, and as the rater left it in the trial before; null where nothing is written.
const unfolded = new Map();

export function guidelines(text, name = "") {
  if (!text) return null;
  const open = unfolded.get(name) ?? !matchMedia("(max-width: 640px)").matches;
  const element = h("details", { class: "guidelines", open },
    h("summary", {}, t("trial.guidelines")), h("div", { class: "prose" }, paragraphs(text)));
  element.addEventListener("toggle", () => unfolded.set(name, element.open));
  return element;
}

// The faults of each sound to tick, none of which has to be; names: of the sounds, by position. The
// answer has a number for each sound, whose bit k is set where fault k is ticked.
export function faults(names, list, onchange) {
  const boxes = names.map(() => list.map(() => h("input", { type: "checkbox", onchange })));
  const rows = names.map((name, i) => h("fieldset", { class: "faults" },
    h("legend", {}, names.length > 1 ? name : t("trial.faults")),
    h("div", {}, list.map((fault, k) => h("label", { class: "choice" }, boxes[i][k], fault)))));
  return {
    element: h("div", {}, names.length > 1 && h("h2", {}, t("trial.faults")), rows),
    get answer() { return boxes.map((own) => own.reduce((sum, box, k) => sum + box.checked * 2 ** k, 0)); },
    set answer(values) {
      boxes.forEach((own, i) => own.forEach((box, k) => { box.checked = Boolean(values?.[i] >> k & 1); }));
    },
  };
}

// A comment, which may stay empty.
export function remark(onchange) {
  const input = h("textarea", { rows: 2, maxlength: MAX_COMMENT, oninput: onchange });
  return {
    element: h("label", { class: "asked remark" }, h("span", {}, t("trial.comment")), input),
    get answer() { return input.value.trim() || null; },
    set answer(value) { input.value = value ?? ""; },
  };
}
