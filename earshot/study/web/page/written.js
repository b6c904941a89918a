// What a rater writes on a trial: what they heard, or a comment. Lengths are those of
// earshot.study.design.scales.

import { h } from "./dom.js";
import { t } from "./text.js";

const MAX_SENTENCE = 500; // characters
const MAX_COMMENT = 1000; // characters

// What was heard.
export function write({ name, question }, place, onchange) {
  const input = h("input", {
    type: "text", maxlength: MAX_SENTENCE, autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    "aria-label": question, oninput: onchange,
  });
  return {
    name,
    element: h("fieldset", { class: "answers written", disabled: true },
      h("legend", {}, h(place ? "h2" : "h1", {}, question)), input),
    get answer() { return input.value.trim() || null; },
    set answer(value) { input.value = value ?? ""; },
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
