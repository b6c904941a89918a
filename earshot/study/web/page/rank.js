// A ranking: the worst of the sounds is taken out again and again, until the best is left. Each sound
// plays from its beginning to its end; what was taken out can be put back.

import { press } from "./card.js";
import { h, say, set } from "./dom.js";
import { number, t } from "./text.js";

const DIGITS = "1234567890-=";

export class Rank {
  // trial: { question }; every sound of the deck is ranked.
  constructor(trial, deck, onchange) {
    Object.assign(this, { trial, deck, onchange });
    this.out = []; // the places of sounds that were taken out, the worst first
    this.rows = deck.buffers.map((_, i) => this.row(i));
    this.list = h("div", { class: "rows" });
    this.element = h("div", { class: "rank" }, deck.screen?.element, h("h1", {}, trial.question), this.list);
    this.arrange();
  }

  // What the ranked sounds are called.
  get names() { return this.rows.map((_, i) => t("mushra.sound", { n: i + 1 })); }

  row(i) {
    const button = h("button", { type: "button", class: "switch", "aria-pressed": "false",
      "aria-label": t("mushra.play", { n: i + 1 }), onclick: () => press(this.deck, i) }, number(i + 1));
    const text = h("span", { class: "name" });
    const line = h("span", { class: "line" }, h("i"));
    const take = h("button", { type: "button", class: "pill", disabled: true, onclick: () => this.take(i) });
    return { button, text, line, take, element: h("div", { class: "row" }, button, h("div", {}, text, line), take) };
  }

  // Takes a sound out as the worst of those that are left, or puts it back.
  take(i) {
    if (this.locked) return;
    if (this.out.includes(i)) this.out = this.out.filter((each) => each !== i);
    else if (this.left.length > 1) this.out.push(i);
    this.arrange();
    this.rows[i].take.focus({ preventScroll: true });
    this.onchange();
  }

  get left() { return this.rows.map((_, i) => i).filter((i) => !this.out.includes(i)); }

  // Those that are left above, then those that were taken out, the best of them first.
  arrange() {
    const order = [...this.left, ...[...this.out].reverse()].map((i) => this.rows[i].element);
    if (order.some((element, i) => this.list.children[i] !== element)) this.list.replaceChildren(...order);
  }

  // The place of a sound, 1 the best; null while it is not known.
  place(i) {
    const taken = this.out.indexOf(i);
    if (taken >= 0) return this.rows.length - taken;
    return this.left.length === 1 ? 1 : null;
  }

  get answer() { return this.out.length ? this.rows.map((_, i) => this.place(i)) : null; }

  set answer(places) {
    const order = places.map((place, i) => [place, i]).filter(([place]) => place > 1);
    this.out = order.sort(([one], [other]) => other - one).map(([, i]) => i);
    this.arrange();
  }

  get locked() { return this.rows.some((_, i) => !this.deck.hasPlayed(i)); }

  get ready() { return !this.locked && this.left.length === 1; }

  get hint() {
    const unheard = this.rows.findIndex((_, i) => !this.deck.hasPlayed(i));
    if (unheard >= 0) return t("rank.hear", { n: unheard + 1 });
    return this.ready ? "" : t("rank.take");
  }

  key(key) {
    const digit = DIGITS.indexOf(key);
    if (key === " ") this.deck.toggle();
    else if (digit >= 0 && digit < this.rows.length) press(this.deck, digit);
    else if (key.toLowerCase() === "x" && !this.out.includes(this.deck.last)) this.take(this.deck.last);
    else if (key === "Backspace" && this.out.length) this.take(this.out.at(-1));
    else return false;
    return true;
  }

  get keys() {
    return [
      [t("key.space"), t("keys.play")], [`1 – ${DIGITS[this.rows.length - 1]}`, t("keys.pick")],
      ["X", t("keys.take")], ["Backspace", t("keys.put")], ["Enter", t("keys.next")],
    ];
  }

  draw() {
    const { deck, locked } = this;
    this.rows.forEach((row, i) => {
      const [on, place, taken] = [deck.active === i, this.place(i), this.out.includes(i)];
      row.button.classList.toggle("on", on);
      row.button.classList.toggle("heard", deck.hasPlayed(i));
      set(row.button, "aria-pressed", on);
      row.element.classList.toggle("taken", taken);
      row.line.style.setProperty("--done", on ? deck.position / deck.buffers[i].duration : 0);
      say(row.text, place === null ? t("mushra.sound", { n: i + 1 })
        : t("rank.place", { n: i + 1, place: number(place) }));
      say(row.take, t(taken ? "rank.back" : "rank.worst"));
      row.take.disabled = locked;
      row.take.hidden = place === 1;
    });
  }
}
