// A trial with one question: sounds to play each from beginning to end, then one answer out of a
// few. Serves every design whose sounds are heard one after the other.

import { card, draw as drawCard, press } from "./card.js";
import { h } from "./dom.js";
import { number, t } from "./text.js";

// What a sound is called, and the letter that plays it; a letter is its own name.
const LABELS = {
  sound: [t("label.sound"), "S"],
  first: [t("label.first"), t("letter.first")],
  second: [t("label.second"), t("letter.second")],
};

export class Choice {
  // trial: { cards, question, words: [{ value, label, number }] }
  constructor(trial, deck, onchange) {
    Object.assign(this, { trial, deck, onchange });
    const called = trial.cards.map((name) => LABELS[name] ?? [name, name]);
    this.labels = called.map(([name]) => name);
    this.letters = called.map(([, letter]) => letter);
    // A positive number is its own key; other answers are counted.
    this.digits = trial.words.map(({ value }, i) => (trial.words.every((w) => w.value > 0) ? value : i + 1));
    this.cards = this.labels.map((label, i) => card(
      this.labels.length === 1 ? t("play.sound") : t("play.one", { name: label }), label, () => press(deck, i),
    ));
    this.inputs = trial.words.map((word, i) => h("input", {
      type: "radio", name: "answer", id: `answer-${i}`, value: word.value, onchange,
    }));
    this.fields = h(
      "fieldset", { class: `answers answers-${trial.words.length}`, disabled: true },
      h("legend", {}, h("h1", {}, trial.question)),
      h("div", { class: "answer-row" }, trial.words.map((word, i) => h(
        "label", { class: "answer", for: `answer-${i}` }, this.inputs[i],
        word.number != null && h("b", {}, word.number),
        h("span", {}, word.label),
        word.number !== String(this.digits[i]) && h("kbd", { "aria-hidden": "true" }, number(this.digits[i])),
      ))),
    );
    this.element = h("div", {}, h("div", { class: "cards" }, this.cards), this.fields);
  }

  get locked() { return this.labels.some((_, i) => !this.deck.heard(i)); }

  get answer() {
    const chosen = this.inputs.find((input) => input.checked);
    return chosen ? this.trial.words[this.inputs.indexOf(chosen)].value : null;
  }

  set answer(value) {
    this.inputs.forEach((input, i) => { input.checked = this.trial.words[i].value === value; });
  }

  get hint() { return this.locked ? t(`trial.hear.${this.labels.length}`) : ""; }

  // What a key does; true where it did something.
  key(key) {
    const letter = this.letters.findIndex((each) => each.toLowerCase() === key.toLowerCase());
    if (key === " ") {
      const next = this.labels.findIndex((_, i) => !this.deck.heard(i));
      press(this.deck, this.deck.active >= 0 ? this.deck.active : Math.max(next, 0));
    } else if (letter >= 0) press(this.deck, letter);
    else if (this.digits.includes(Number(key))) {
      if (!this.locked) this.inputs[this.digits.indexOf(Number(key))].click();
    } else return false;
    return true;
  }

  get keys() {
    return [
      [t("key.space"), t("keys.play")],
      ...(this.letters.length > 1 ? [[this.letters.join(" "), t("keys.pick")]] : []),
      [`${number(1)} – ${number(this.inputs.length)}`, t("keys.answer")],
      ["Enter", t("keys.next")],
    ];
  }

  // Draws what changes while sounds play.
  draw() {
    this.cards.forEach((element, i) => drawCard(element, this.deck, i));
    this.fields.disabled = this.locked;
  }
}
