// Questions about the rater and the test: some to choose an answer to, some to write one.

import { h } from "./dom.js";
import { t } from "./text.js";

const MAX_CHARACTERS = 2000; // characters

// Those to ask now, when so many trials are done: "before", "between" or "after".
export function due(test, when, trials) {
  const turn = ({ every }) => when !== "between" || (trials > 0 && trials % every === 0);
  const replied = ({ number }) => test.replied.some(([question, at]) => (
    question === number && (when !== "between" || at === trials)));
  return test.questions.filter((each) => each.when === when && turn(each) && !replied(each));
}

// send: takes a list of { question, reply } and goes on.
export function questionnaire(questions, send) {
  const fields = questions.map((question) => (question.choices.length ? choice : text)(question));
  const next = h("button", { type: "submit", class: "main" }, t("trial.next"));
  const draw = () => { next.disabled = fields.some((field) => !field.ready()); };
  return {
    draw,
    element: h(
      "form", { class: "page", onsubmit: (event) => {
        event.preventDefault();
        next.disabled = true;
        send(fields.map((field, i) => ({ question: questions[i].number, reply: field.reply() })));
      } },
      h("h1", {}, t("questions.title")),
      fields.map((field) => field.element),
      h("div", { class: "actions" }, next),
    ),
  };
}

const asking = (ask, optional) => [ask, optional && h("small", {}, t("question.optional"))];

function choice({ number, ask, choices, optional }) {
  const inputs = choices.map((_, i) => h("input", { type: "radio", name: `question-${number}`, value: i }));
  return {
    element: h("fieldset", { class: "asked" }, h("legend", {}, asking(ask, optional)),
      choices.map((label, i) => h("label", { class: "choice" }, inputs[i], h("span", {}, label)))),
    ready: () => optional || inputs.some((input) => input.checked),
    reply: () => (inputs.some((input) => input.checked) ? inputs.findIndex((input) => input.checked) : null),
  };
}

function text({ ask, optional }) {
  const input = h("textarea", { rows: 2, maxlength: MAX_CHARACTERS });
  return {
    element: h("label", { class: "asked" }, h("span", {}, asking(ask, optional)), input),
    ready: () => true,
    reply: () => input.value.trim(),
  };
}
