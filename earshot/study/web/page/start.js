// What comes before the trials: consent, volume, and the check for headphones.

import { card, draw as drawCard, press } from "./card.js";
import { advise } from "./device.js";
import { h, paragraphs, say } from "./dom.js";
import { Deck } from "./player.js";
import { address, store } from "./server.js";
import { number, t } from "./text.js";

// before: whom this browser took part as, where it did not come with that link. decline: where the
// panel wants to know.
// again: whether this browser has taken the test. device: what may be stored of it.
export function consent(test, { before, again, device }, agree, decline) {
  const tick = (text, box) => h("label", { class: "choice" }, box, h("span", {}, text));
  const boxes = test.agree.map(() => h("input", { type: "checkbox", onchange: () => draw() }));
  const kind = h("input", { type: "checkbox" });
  const label = device.replace(/^\w+/, (name) => t(`device.${name}`));
  const go = () => (!again || confirm(t("consent.again"))) && agree(kind.checked ? device : null);
  const main = h("button", { type: "button", class: "main", onclick: go }, t("consent.agree"));
  const draw = () => { main.disabled = boxes.some((box) => !box.checked); };
  draw();
  const facts = [t("fact.questions", { n: test.count }), t("fact.headphones"), t("fact.quiet")];
  const optional = test.questions.some((question) => question.optional);
  return h(
    "section", { class: "page" },
    h("h1", {}, test.title),
    h("ul", { class: "facts" }, facts.map((fact) => h("li", {}, fact))),
    h("div", { class: "prose" }, paragraphs(test.instructions)),
    h("div", { class: "consent" },
      h("h2", {}, t("consent.title")), paragraphs(test.consent), h("p", {}, t("consent.stored")),
      !test.disclosed_after && h("p", {}, t("consent.voices")),
      optional && h("p", {}, t("consent.questions")),
      test.room && h("p", {}, t("consent.room")),
      test.videos.length > 0 && h("p", {}, t("consent.videos")),
      test.show_others && h("p", {}, t("consent.others")),
      test.link.length > 0 && h("p", {}, t("consent.panel")),
      test.approval && h("p", {}, t("consent.approval", { number: test.approval })),
      h("div", { class: "ticks" }, test.agree.map((text, i) => tick(text, boxes[i])),
        tick(t("consent.device", { device: label }), kind))),
    again && h("p", { class: "message" }, t("consent.again")),
    before && h("p", { class: "message" }, t("consent.begun"), " ",
      h("a", { href: `?rater=${encodeURIComponent(before)}` }, t("consent.go_on"))),
    h("div", { class: "actions" },
      main,
      decline && h("button", { type: "button", class: "quiet", onclick: decline }, t("consent.decline"))),
  );
}

// One of the test's own sounds, and how loud the page plays. back: whether the rater was away.
export function volume(player, sound, back, done) {
  const deck = new Deck(player, [sound], false, () => null);
  const play = card(t("play.sound"), null, () => press(deck, 0));
  const set = () => { player.volume = Number(slider.value); };
  const slider = h("input", { type: "range", min: 0, max: 1, step: 0.01, value: player.volume,
    id: "volume", oninput: set });
  const next = h("button", { type: "button", class: "main", onclick: done }, t("volume.done"));
  const advice = h("p", { class: "message", role: "status", hidden: true });
  player.device.begin();
  return {
    deck,
    draw() {
      deck.watch(performance.now());
      advise(advice, player.device);
      drawCard(play, deck, 0);
      next.disabled = !deck.plays[0];
    },
    key(key) {
      if (key === " ") press(deck, 0);
      else if (key === "Enter" && !next.disabled) done();
      else return false;
      return true;
    },
    element: h(
      "section", { class: "page" },
      h("h1", {}, t(back ? "volume.back.title" : "volume.title")),
      h("div", { class: "prose" }, h("p", {}, t(back ? "volume.back.text" : "volume.text"))),
      h("div", { class: "cards" }, play),
      h("label", { class: "volume", for: "volume" }, h("span", {}, t("volume.label")), h("div", { class: "slide" }, slider)),
      h("div", { class: "actions" }, next, advice),
    ),
  };
}

// Sounds before the trials, of each of which one says which part of it is the one that is asked for.
// What hides in the noises only headphones let through; what hisses only a quiet room.
// trials: how many there are; begins: of their addresses; sends: where the answers go; loudspeakers:
// whether who has them may say so. next: the next trial where the server says which it is, answer by
// answer: { kind, trial, answers, most, short }.
export const HEADPHONES = { texts: "check", begins: "check/", sends: "headphones" };
export const ROOM = { texts: "room", begins: "room/", sends: "environment" };

// done: gets the server's word on the answers; run: what explains an error.
export function check(player, rater, { texts, begins, sends }, trials, attempt, loudspeakers, next, done, run) {
  const answers = [...(next?.answers ?? [])];
  const token = encodeURIComponent(rater);
  const addresses = () => (next ? [address(`${begins}${next.trial}?kind=${next.kind}&rater=${token}`)]
    : Array.from({ length: trials }, (_, i) => address(`${begins}${attempt * trials + i}?rater=${token}`))
      .slice(answers.length));
  const play = card(t(`${texts}.play`), null, () => press(step.deck, 0));
  const text = h("p");
  const buttons = t(`${texts}.names`).map((name, i) => h(
    "button", { type: "button", class: "answer", onclick: () => run(() => choose(i + 1)) },
    h("b", {}, number(i + 1)), h("span", {}, name),
  ));
  const count = h("p", { class: "hint", role: "status" });

  async function choose(chosen) {
    answers.push(chosen);
    if (!next && answers.length < trials) return begin();
    const reply = await store(sends, { rater, attempt, answers });
    if (!reply.more) return done(reply);
    next = reply.check;
    answers.splice(0, answers.length, ...next.answers);
    return begin();
  }

  const say_so = async () => done(await store(sends,
    { rater, attempt, answers: Array(next ? 1 : trials).fill(0), loudspeakers: true }));

  async function begin() {
    step.deck?.silence();
    step.deck = null;
    const [now, ...later] = addresses();
    const of = next ? next.most : trials;
    count.textContent = t(next?.short ? "check.short" : "count", { n: answers.length + 1, of });
    const kind = next?.kind === "antiphase" ? "antiphase" : texts;
    say(text, t(`${kind}.text`));
    play.setAttribute("aria-label", t(`${kind}.play`));
    t(`${kind}.names`).forEach((name, i) => say(buttons[i].lastElementChild, name));
    const buffers = await player.load([now]);
    step.deck = new Deck(player, buffers, false, () => null);
    player.load(later.slice(0, 1)).catch(() => null);
  }

  const step = {
    deck: null,
    begin,
    draw() {
      play.disabled = !step.deck;
      step.deck?.watch(performance.now());
      if (step.deck) drawCard(play, step.deck, 0);
      const all = !next && answers.length === trials;
      for (const button of buttons) button.disabled = !step.deck?.hasPlayed(0) || all;
    },
    key(key) {
      if (key === " " && step.deck) press(step.deck, 0);
      else if (buttons[key - 1]) buttons[key - 1].click();
      else return false;
      return true;
    },
    element: h(
      "section", { class: "page" },
      h("h1", {}, t(`${texts}.title`)),
      h("div", { class: "prose" }, text),
      h("div", { class: "cards" }, play),
      h("div", { class: "answer-row thirds" }, buttons), count,
      loudspeakers && h("div", { class: "actions" }, h("button", { type: "button", class: "quiet",
        onclick: () => run(say_so) }, t("check.loudspeakers"))),
    ),
  };
  return step;
}
