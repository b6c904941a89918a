// A trial whose sounds are played each from beginning to end: then one answer out of a few, to one
// question or to several, or what was heard, written down. Serves every design whose sounds are heard
// one after the other.

import { card, draw as drawCard, press } from "./card.js";
import { h } from "./dom.js";
import { number, t } from "./text.js";
import { guidelines, write } from "./written.js";

// What a sound is called, and the letter that plays it; a letter is its own name.
const LABELS = {
  reference: [t("label.reference"), t("letter.reference")],
  sound: [t("label.sound"), "S"],
  first: [t("label.first"), t("letter.first")],
  second: [t("label.second"), t("letter.second")],
};

export class Choice {
  // trial: { cards, question, words: [{ value, label, number }], sentence,
  // scales: [{ name, question, words, typed }] }; scales: where answers are by their names.
  constructor(trial, deck, onchange) {
    Object.assign(this, { trial, deck, onchange });
    const called = trial.cards.map((name) => LABELS[name] ?? [name, name]);
    this.labels = called.map(([name]) => name);
    this.letters = called.map(([, letter]) => letter);
    this.cards = this.labels.map((label, i) => card(
      this.labels.length === 1 ? t("play.sound") : t("play.one", { name: label }), label, () => press(deck, i),
    ));
    const scales = trial.scales.length ? trial.scales : [trial];
    this.fields = scales.map((scale, i) => (scale.typed ? write : choose)(scale, i, onchange));
    this.element = h("div", {}, deck.screen?.element,
      h("div", { class: "cards" }, this.cards),
      trial.sentence && h("figure", { class: "sentence" },
        h("figcaption", {}, t("trial.said")), h("blockquote", {}, trial.sentence)),
      this.fields.map((each) => each.element));
  }

  // What the rated sounds are called; the open reference stands before them.
  get names() { return this.labels.slice(this.trial.referenced ? 1 : 0); }

  get locked() { return this.labels.some((_, i) => !this.deck.hasPlayed(i)); }

  get ready() { return !this.locked && this.fields.every((field) => field.answer != null); }

  // By the names of scales where there are some, as far as they are answered.
  get answer() {
    if (!this.trial.scales.length) return this.fields[0].answer;
    return Object.fromEntries(this.fields.map((field) => [field.name, field.answer]));
  }

  set answer(value) {
    if (!this.trial.scales.length) this.fields[0].answer = value;
    else for (const field of this.fields) field.answer = value[field.name];
  }

  get hint() {
    if (this.locked) return t(`trial.hear.${this.labels.length}`);
    const open = this.fields.filter((field) => field.answer == null);
    return this.fields.length > 1 && open.length ? t("trial.answer") : "";
  }

  // What a key does; true where it did something. A digit answers the question in focus, else the
  // first that is open.
  key(key) {
    const letter = this.letters.findIndex((each) => each.toLowerCase() === key.toLowerCase());
    if (key === " ") {
      const next = this.labels.findIndex((_, i) => !this.deck.hasPlayed(i));
      press(this.deck, this.deck.active >= 0 ? this.deck.active : Math.max(next, 0));
    } else if (letter >= 0) press(this.deck, letter);
    else {
      const rated = this.fields.filter((field) => field.pick);
      const field = rated.find((each) => each.element.contains(document.activeElement))
        ?? rated.find((field) => field.answer == null) ?? rated.at(-1);
      return !!field && field.pick(key, this.locked);
    }
    return true;
  }

  get keys() {
    const digits = [...new Set(this.fields.filter((field) => field.pick).map((field) => field.keys))];
    return [
      [t("key.space"), t("keys.play")],
      ...(this.letters.length > 1 ? [[this.letters.join(" "), t("keys.pick")]] : []),
      ...digits.map((keys) => [keys, t("keys.answer")]),
      ...(this.fields.length > 1 ? [["Tab", t("keys.scale")]] : []),
      ["Enter", t("keys.next")],
    ];
  }

  // Draws what changes while sounds play.
  draw() {
    this.cards.forEach((element, i) => drawCard(element, this.deck, i));
    for (const field of this.fields) field.element.disabled = this.locked;
  }
}

// One answer out of a few.
function choose({ name, question, words, guidelines: text }, place, onchange) {
  // A positive number is its own key; other answers are counted, and eleven begin with 0.
  const positive = words.every(({ value }) => value > 0);
  const keys = words.map(({ value }, i) => (
    words.length > 9 ? `${value}`.replace("10", "-") : `${positive ? value : i + 1}`));
  const ends = words.length > 2 && words.slice(1, -1).every(({ label }) => !label);
  const inputs = words.map((word, i) => h("input", {
    type: "radio", name: `answer-${place}`, id: `answer-${place}-${i}`, value: word.value,
    onchange, "aria-label": ends && [word.number, word.label].filter(Boolean).join(": "),
  }));
  const labels = words.map((word, i) => h(
    "label", { class: "answer", for: `answer-${place}-${i}` }, inputs[i],
    word.number != null && h("b", {}, word.number),
    word.label && !ends && h("span", {}, word.label),
    word.number !== keys[i] && h("kbd", { "aria-hidden": "true" },
      /\d/.test(keys[i]) ? number(keys[i]) : keys[i]),
  ));
  // Without words for each point, numbers rise from left to right, their ends named above.
  const [best, worst] = [words[0], words.at(-1)];
  if (ends) labels.reverse();
  const element = h(
    "fieldset", { class: `answers answers-${words.length}${ends ? " ends" : ""}`, disabled: true },
    h("legend", {}, h(place ? "h2" : "h1", {}, question)),
    name && guidelines(text, name),
    ends && h("div", { class: "end-words" },
      h("span", {}, `${worst.number ?? worst.value}: ${worst.label}`),
      h("span", {}, `${best.number ?? best.value}: ${best.label}`)),
    h("div", { class: "answer-row" }, labels),
  );
  return {
    name,
    element,
    keys: words.length > 9 ? "0 – 9 -" : `${number(1)} – ${number(words.length)}`,
    get answer() {
      const chosen = inputs.findIndex((input) => input.checked);
      return chosen < 0 ? null : words[chosen].value;
    },
    set answer(value) {
      inputs.forEach((input, i) => { input.checked = words[i].value === value; });
    },
    pick(key, locked) {
      if (!keys.includes(key)) return false;
      if (!locked) inputs[keys.indexOf(key)].click();
      return true;
    },
  };
}
