// A MUSHRA trial: the reference, where there is an open one, and every condition run at once; one is
// heard at a time, and a switch keeps the position. A part can be repeated. Where sounds are not
// equally long, each begins anew when it is switched to, and runs once.
//
// And a trial of the method of adjustment: one sound, next to an open reference or none, whose level the
// slider sets, from a start of its own. How many dB it is set to is not shown, for 0 would be no matter of
// hearing.

import { press } from "./card.js";
import { h, icon, say, set } from "./dom.js";
import { number, t } from "./text.js";
import { guidelines } from "./written.js";

const MIN_PART = 0.5; // s, of a part that repeats
const STEP = 0.5; // s, of an arrow key on the position
const NEAR = 6; // px that a pointer may move in a click

export class Mushra {
  // trial: { question, words: [{ label }], the best first; scales, of which each has these and a name;
  // gain: { low, high, start }, in dB, or null }; sound 0 is the reference, if referenced.
  constructor(trial, deck, onchange) {
    Object.assign(this, { trial, deck, onchange });
    this.first = trial.referenced ? 1 : 0; // place of the first condition
    if (trial.gain) this.level = trial.gain.start;
    this.scales = trial.scales.length ? trial.scales : [trial];
    this.blocks = this.scales.map((scale) => deck.buffers.slice(this.first).map((_, i) => this.row(i + 1, scale)));
    this.rows = this.blocks.flat();
    this.reference = trial.referenced && h(
      "button", { type: "button", class: "pill", "aria-pressed": "false",
        onclick: () => press(deck, 0) }, t("mushra.reference"),
    );
    this.toggle = h("button", { type: "button", class: "toggle", "aria-label": t("mushra.toggle"),
      onclick: () => deck.toggle() }, icon("play"), icon("pause"));
    this.whole = h("button", { type: "button", class: "quiet", hidden: true,
      onclick: () => deck.repeat(0, deck.length) }, t("mushra.all"));
    this.time = h("span", { class: "time" });
    this.element = h(
      "div", { class: "mushra" },
      deck.screen?.element,
      h("div", { class: "stage" },
        h("div", { class: "stage-bar" }, this.toggle, this.reference, this.time, this.whole), this.lane()),
      this.scales.map(({ name, question, words, guidelines: text }, place) => [
        h(place ? "h2" : "h1", {}, question),
        name && guidelines(text, name),
        h("div", { class: trial.gain ? "scale ends" : "scale", "aria-hidden": "true" },
          h("span"), h("div", {}, (trial.gain ? [t("adjust.softer"), t("adjust.louder")]
            : [...words].reverse().map((word) => word.label)).map((label) => h("span", {}, label)))),
        h("div", { class: "rows" }, this.blocks[place].map((row) => row.element)),
      ]).flat(),
    );
  }

  // The gain (dB) of the rated sound. All sounds are softer by the largest one, which would clip some.
  set level(decibels) {
    const room = Math.max(0, this.trial.gain.high);
    this.deck.level(this.first, decibels - room);
    if (this.first) this.deck.level(0, -room);
  }

  // What the rated sounds are called.
  get names() { return this.blocks[0].map((_, i) => t("mushra.sound", { n: i + 1 })); }

  // The row of sound i, from 1, on a scale.
  row(i, { name, question }) {
    const { gain } = this.trial;
    const rate = () => {
      row.rated = true;
      if (gain) this.level = gain.low + Number(row.input.value);
      this.onchange();
    };
    const button = h("button", { type: "button", class: "switch", "aria-pressed": "false",
      "aria-label": gain ? t("play.sound") : t("mushra.play", { n: i }),
      onclick: () => press(this.deck, i - 1 + this.first) }, number(i));
    const [max, value_at_start] = gain ? [gain.high - gain.low, gain.start - gain.low] : [100, 50];
    const sound = t("mushra.sound", { n: i });
    const label = name ? `${sound}: ${question}` : sound;
    const input = h("input", { type: "range", min: 0, max, step: 1, value: value_at_start, disabled: true,
      "aria-label": gain ? t("adjust.level") : label, oninput: rate, onclick: rate });
    const value = h("span", { class: "value", "aria-hidden": "true" }, "–");
    const row = { i: i - 1, button, input, value, rated: false };
    row.element = h("div", { class: "row" }, button, h("div", { class: "slide" }, input), value);
    return row;
  }

  // The reference's waveform, or none, for any other's would tell: click to go there, drag to repeat
  // a part.
  lane() {
    this.picture = h("canvas");
    const { deck } = this;
    this.span = h("i", { class: "part" });
    this.head = h("i", { class: "head" });
    const lane = h("div", { class: "lane", tabindex: 0, role: "slider", "aria-label": t("mushra.position"),
      "aria-valuemin": 0, "aria-valuemax": deck.length.toFixed(1) },
    this.picture, this.span, this.head);
    this.place = lane;
    lane.hidden = !deck.together; // sounds that begin anew with every switch have no common place
    lane.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key];
      if (!step) return;
      event.preventDefault();
      deck.seek(deck.position + step);
    });
    const at = (event) => {
      const box = lane.getBoundingClientRect();
      const share = (event.clientX - box.left) / box.width;
      return Math.min(1, Math.max(0, share)) * deck.length;
    };
    let down = null;
    lane.addEventListener("pointerdown", (event) => {
      lane.setPointerCapture(event.pointerId);
      down = { x: event.clientX, from: at(event) };
    });
    lane.addEventListener("pointermove", (event) => {
      if (down && Math.abs(event.clientX - down.x) > NEAR) this.mark(down.from, at(event));
    });
    lane.addEventListener("pointerup", (event) => {
      if (!down) return;
      const [from, to] = [down.from, at(event)].sort((a, b) => a - b);
      const dragged = Math.abs(event.clientX - down.x) > NEAR;
      down = null;
      if (dragged) deck.repeat(...this.widen(from, to));
      else deck.seek(from);
    });
    lane.addEventListener("pointercancel", () => { down = null; });
    new ResizeObserver(() => this.paint()).observe(lane);
    return lane;
  }

  widen(from, to) {
    const lack = Math.max(0, MIN_PART - (to - from)) / 2;
    return [from - lack, to + lack];
  }

  mark(from, to) {
    const [left, right] = [from, to].sort((a, b) => a - b).map((s) => s / this.deck.length);
    this.span.style.cssText = `left:${left * 100}%;right:${(1 - right) * 100}%`;
  }

  paint() {
    const canvas = this.picture;
    const ratio = devicePixelRatio;
    const [width, height] = [canvas.clientWidth * ratio, canvas.clientHeight * ratio];
    if (!width || !this.reference) return;
    Object.assign(canvas, { width, height });
    const brush = canvas.getContext("2d");
    brush.fillStyle = getComputedStyle(canvas).color;
    const samples = this.deck.buffers[0].getChannelData(0);
    const step = 3 * ratio; // device pixels from bar to bar
    const each = this.deck.length * this.deck.buffers[0].sampleRate * step / width;
    const peaks = Array.from({ length: Math.floor(width / step) }, (_, k) => {
      let peak = 0;
      for (let s = Math.floor(k * each); s < (k + 1) * each && s < samples.length; s += 4) {
        peak = Math.max(peak, Math.abs(samples[s]));
      }
      return peak;
    });
    const loudest = Math.max(...peaks, 1e-6);
    peaks.forEach((peak, k) => {
      const tall = Math.max(ratio, (peak / loudest) * height * 0.9);
      brush.fillRect(k * step, (height - tall) / 2, 2 * ratio, tall);
    });
  }

  get answer() {
    const { gain } = this.trial;
    const [{ rated, input }] = this.rows;
    if (gain) return rated ? gain.low + Number(input.value) : null;
    if (!this.rows.some((row) => row.rated)) return null;
    const answers = this.blocks.map((rows) => rows.map((row) => (row.rated ? Number(row.input.value) : null)));
    // By the names of scales where there are some.
    if (!this.trial.scales.length) return answers[0];
    return Object.fromEntries(this.scales.map((scale, place) => [scale.name, answers[place]]));
  }

  set answer(values) {
    const { gain } = this.trial;
    if (gain) {
      this.level = values;
      values = [values - gain.low];
    }
    const all = this.trial.scales.length ? this.scales.flatMap((scale) => values[scale.name]) : values;
    all.forEach((value, i) => {
      if (value == null) return;
      Object.assign(this.rows[i], { rated: true });
      this.rows[i].input.value = value;
    });
  }

  get locked() { return this.hint !== ""; }

  get ready() { return !this.locked; }

  get hint() {
    const unheard = this.deck.buffers.findIndex((_, i) => !this.deck.hasPlayed(i));
    if (unheard >= 0 && unheard < this.first) return t("mushra.hear.reference");
    const { gain } = this.trial;
    if (unheard >= 0) return gain ? t("adjust.hear") : t("mushra.hear", { n: unheard + 1 - this.first });
    const unrated = this.rows.findIndex((row) => !row.rated);
    if (unrated < 0) return "";
    if (gain) return t("adjust.set");
    return this.blocks.length > 1 ? t("trial.answer") : t("mushra.rate", { n: unrated + 1 });
  }

  key(key) {
    const digit = "1234567890-=".indexOf(key) + 1;
    const { deck } = this;
    if (key === " ") deck.toggle();
    else if (key.toLowerCase() === "r" && this.reference) deck.play(0);
    else if (digit > 0 && digit <= this.blocks[0].length) {
      deck.play(digit - 1 + this.first);
      // On the scale in focus, else on the first that is open.
      const block = this.blocks.find((rows) => rows.some((row) => row.input === document.activeElement))
        ?? this.blocks.find((rows) => rows.some((row) => !row.rated)) ?? this.blocks[0];
      const { input } = block[digit - 1];
      input.disabled = false;
      input.focus({ preventScroll: true });
    } else if (deck.together && (key === "[" || key === "]")) {
      const [from, to] = key === "[" ? [deck.position, deck.part[1]] : [deck.part[0], deck.position];
      deck.repeat(...this.widen(Math.min(from, to), Math.max(from, to)));
    } else if (deck.together && key === "Escape") deck.repeat(0, deck.length);
    else return false;
    return true;
  }

  get keys() {
    const last = "1234567890-="[this.blocks[0].length - 1];
    const digits = this.blocks[0].length > 1 ? `1 – ${last}` : last;
    return [
      [t("key.space"), t("keys.pause")], ...(this.reference ? [["R", t("mushra.reference")]] : []), [digits, t("keys.switch")],
      ["← →", t(this.trial.gain ? "keys.level" : "keys.rate")],
      ...(this.deck.together ? [["[ ]", t("keys.part")], ["Esc", t("keys.all")]] : []), ["Enter", t("keys.next")],
    ];
  }

  draw() {
    const { deck } = this;
    const buttons = this.rows.map((row) => [row.button, row.i + this.first]);
    if (this.reference) buttons.push([this.reference, 0]);
    buttons.forEach(([button, i]) => {
      button.classList.toggle("on", deck.active === i);
      button.classList.toggle("heard", deck.hasPlayed(i));
      set(button, "aria-pressed", deck.active === i);
    });
    this.rows.forEach((row) => {
      if (deck.plays[row.i + this.first]) row.input.disabled = false;
      row.element.classList.toggle("on", deck.active === row.i + this.first);
      row.element.classList.toggle("rated", row.rated);
      if (this.trial.gain) say(row.value, row.rated ? "✓" : "");
      else say(row.value, row.rated ? number(row.input.value) : "–");
    });
    this.toggle.classList.toggle("on", deck.active >= 0);
    const position = deck.position;
    const length = deck.together ? deck.length : deck.buffers[Math.max(deck.active, deck.last)].duration;
    this.head.style.left = `${(position / deck.length) * 100}%`;
    say(this.time, t("mushra.time", { n: number(position, 1), of: number(length, 1) }));
    set(this.place, "aria-valuenow", position.toFixed(1));
    const all = deck.part[0] === 0 && deck.part[1] === deck.length;
    this.whole.hidden = all;
    this.span.hidden = all;
    if (!all) this.mark(...deck.part);
  }
}
