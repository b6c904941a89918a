// One trial: its sounds, its question, and when the answer may go. Half a trial is kept in the
// browser, so that closing it loses nothing.

import { Choice } from "./choice.js";
import { advise } from "./device.js";
import { h, say } from "./dom.js";
import { memory, place } from "./memory.js";
import { Mushra } from "./mushra.js";
import { Deck } from "./player.js";
import { Rank } from "./rank.js";
import { t } from "./text.js";
import { faults, guidelines, remark } from "./written.js";

// buffers: the sounds by position, then the open reference where there is one; screen: their pictures,
// in the order in which they are shown.
export function judge(player, buffers, screen, trial, rater, send) {
  const mushra = trial.sliders;
  const key = `${place} ${rater} ${trial.order}`;
  const before = memory.get(key);
  const began = performance.now();
  const { device } = player;
  device.begin(before?.device);

  const deck = new Deck(player, reference_first(buffers, trial), trial.together, () => keep(), mushra,
    screen);
  screen?.element.addEventListener("click", () => deck.toggle());
  const comment = trial.comment && remark(() => keep());
  const view = new (mushra ? Mushra : trial.ranked ? Rank : Choice)(trial, deck, () => keep());
  const wrong = trial.faults.length > 0 && faults(view.names, trial.faults, () => keep());
  if (before) {
    Object.assign(deck, { plays: before.plays, seconds: before.seconds, whole: before.whole });
    if (screen && before.figures) screen.figures = before.figures;
    if (before.answer != null) view.answer = before.answer;
    if (comment) comment.answer = before.comment;
    if (wrong) wrong.answer = before.faults;
  }

  const milliseconds = () => Math.round((before?.milliseconds ?? 0) + performance.now() - began);
  // By name where there are scales, or faults or a comment next to the design's own.
  const answer = () => {
    if (!comment && !wrong) return view.answer;
    const own = trial.scales.length ? view.answer : { [trial.design]: view.answer };
    return { ...own, ...(wrong && { faults: wrong.answer }),
      ...(comment && comment.answer && { comment: comment.answer }) };
  };
  const keep = () => {
    deck.count();
    const { plays, seconds, whole } = deck;
    screen?.tally();
    memory.set(key, { answer: view.answer, comment: comment?.answer, faults: wrong?.answer, plays, seconds, whole,
      figures: screen?.figures, device: device.figures, milliseconds: milliseconds() });
  };
  const figures = () => screen && { ...screen.figures, drift: Math.round(1000 * screen.figures.drift) };
  const go = () => {
    if (!view.ready || saving) return false;
    deck.silence();
    saving = true;
    next.textContent = t("trial.saving");
    const [reference, ...others] = deck.plays;
    const plays = trial.referenced ? [...others, reference] : deck.plays;
    send({ rater, order: trial.order, answer: answer(), plays,
      milliseconds: milliseconds(), version: trial.version, video: figures(),
      playback: device.report });
    return true;
  };
  let saving = false;
  const hint = h("p", { class: "hint", role: "status" });
  const advice = h("p", { class: "message", role: "status", hidden: true });
  const next = h("button", { type: "button", class: "main", onclick: go }, t("trial.next"));

  const element = h(
    "section", { class: `trial trial-${trial.design}` },
    trial.practice && h("p", { class: "message" }, t("trial.practice")),
    guidelines(trial.guidelines),
    view.element,
    wrong && wrong.element,
    comment && comment.element,
    h("div", { class: "actions" }, advice, hint, next),
    h("details", { class: "keys" }, h("summary", {}, t("keys")), h("dl", {}, view.keys.map(row))),
  );
  const draw = () => {
    deck.watch(performance.now());
    view.draw();
    next.disabled = saving || !view.ready;
    advise(advice, device);
    say(hint, deck.interrupted ? t("trial.interrupted") : view.hint);
  };
  return {
    element,
    deck,
    draw,
    key: (pressed) => (pressed === "Enter" ? go() : view.key(pressed)),
    forget: () => memory.set(key, null), // once the answer is stored
  };
}

// What raters see in an order of its own: the reference before all others.
export function reference_first(all, trial) {
  return trial.referenced ? [...all.slice(-1), ...all.slice(0, -1)] : all;
}

function row([keys, does]) {
  const parts = keys.split(" ").map((part) => (part === "–" ? " – " : h("kbd", {}, part)));
  return h("div", {}, h("dt", {}, parts), h("dd", {}, does));
}
