// What comes before the trials: consent, volume, and the check for headphones.

import { card, draw as drawCard, press } from "./card.js";
import { h, paragraphs } from "./dom.js";
import { Deck } from "./player.js";
import { address, store } from "./server.js";

const STORED = "Stored are your answers, how often you play each sound, how long you take and "
  + "whether the headphone check was passed, under a random number: no name, and no address of "
  + "your device. You can stop at any time and have all of it deleted.";
const FIRST = "Play the sound, and make it as loud as you like to hear somebody speak. Then leave "
  + "the volume as it is until the end.";
const BACK = "You go on where you stopped. Play this once more: your volume may have changed.";
const TONE = "You will hear three short noises. One of them hides a faint tone: which one? It is "
  + "hard, and with loudspeakers next to impossible.";
const NAMES = ["First", "Second", "Third"];

// before: whom this browser took part as, where it did not come with that link.
export function consent(test, before, agree) {
  const many = `${test.count} ${test.count === 1 ? "question" : "questions"}`;
  return h(
    "section", { class: "page" },
    h("h1", {}, test.title),
    h("ul", { class: "facts" }, [many, "headphones", "a quiet place"].map((fact) => h("li", {}, fact))),
    h("div", { class: "prose" }, paragraphs(test.instructions)),
    h("div", { class: "consent" },
      h("h2", {}, "Before you agree"), paragraphs(test.consent), h("p", {}, STORED)),
    before && h("p", { class: "message" }, "This test was begun in this browser. ",
      h("a", { href: `?rater=${encodeURIComponent(before)}` }, "Go on with it")),
    h("div", { class: "actions" },
      h("button", { type: "button", class: "main", onclick: agree }, "I agree to take part")),
  );
}

// One of the test's own sounds, and how loud the page plays. back: whether the rater was away.
export function volume(player, sound, back, done) {
  const deck = new Deck(player, [sound], false, () => null);
  const play = card("Play the sound", null, () => press(deck, 0));
  const set = () => { player.volume = Number(slider.value); };
  const slider = h("input", { type: "range", min: 0, max: 1, step: 0.01, value: player.volume,
    id: "volume", oninput: set });
  const next = h("button", { type: "button", class: "main", onclick: done }, "It is comfortable");
  return {
    deck,
    draw() {
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
      h("h1", {}, back ? "Welcome back" : "Set the volume"),
      h("div", { class: "prose" }, h("p", {}, back ? BACK : FIRST)),
      h("div", { class: "cards" }, play),
      h("label", { class: "volume", for: "volume" }, h("span", {}, "Volume"), h("div", { class: "slide" }, slider)),
      h("div", { class: "actions" }, next),
    ),
  };
}

// Three noises at a time, one of which hides a tone that only headphones let through. run: what
// explains an error; done: gets the server's word on the answers.
export function headphones(player, rater, checks, attempt, done, run) {
  const answers = [];
  const addresses = Array.from({ length: checks },
    (_, i) => address(`check/${attempt * checks + i}?rater=${encodeURIComponent(rater)}`));
  const play = card("Play the three noises", null, () => press(step.deck, 0));
  const buttons = NAMES.map((name, i) => h(
    "button", { type: "button", class: "answer", onclick: () => run(() => choose(i + 1)) },
    h("b", {}, i + 1), h("span", {}, name),
  ));
  const count = h("p", { class: "hint", role: "status" });

  async function choose(number) {
    answers.push(number);
    const last = answers.length === checks;
    await (last ? done(await store("headphones", { rater, attempt, answers })) : begin());
  }

  async function begin() {
    step.deck?.silence();
    step.deck = null;
    const [now, ...later] = addresses.slice(answers.length);
    count.textContent = `${answers.length + 1} of ${checks}`;
    const buffers = await player.load([now]);
    step.deck = new Deck(player, buffers, false, () => null);
    player.load(later.slice(0, 1)).catch(() => null);
  }

  const step = {
    deck: null,
    begin,
    draw() {
      play.disabled = !step.deck;
      if (step.deck) drawCard(play, step.deck, 0);
      for (const button of buttons) button.disabled = !step.deck?.heard(0) || answers.length === checks;
    },
    key(key) {
      if (key === " " && step.deck) press(step.deck, 0);
      else if (buttons[key - 1]) buttons[key - 1].click();
      else return false;
      return true;
    },
    element: h(
      "section", { class: "page" },
      h("h1", {}, "Put on your headphones"),
      h("div", { class: "prose" }, h("p", {}, TONE)),
      h("div", { class: "cards" }, play),
      h("div", { class: "answer-row thirds" }, buttons), count,
    ),
  };
  return step;
}
