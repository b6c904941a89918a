// A rater's way through a test: consent → volume → headphones → practice → trials → thanks.

import { h } from "./dom.js";
import { judge } from "./judge.js";
import { memory, place } from "./memory.js";
import { Player } from "./player.js";
import { address, ask, Refused, store, Unstored } from "./server.js";
import { consent, headphones, volume } from "./start.js";

const DELETED = "Nothing of them is left. Thank you for your time.";
const SURE = "Stop here and delete all your answers? This cannot be undone.";
const KEPT = "The server cannot be reached, or cannot store anything at the moment. What you sent is "
  + "kept in this page, which tries again every 10 seconds: leave it open.";
const AGAIN = 10_000; // ms

const [main, bar, count, footer] = ["main", "bar", "count", "footer"].map((id) => document.getElementById(id));
let rater = new URL(location.href).searchParams.get("rater");
let test = null; // what the server says about the test and this rater
let player = null;
let shown = {}; // the step on the page: { draw, deck, key }, each where it has one

const button = (text, onclick, kind = "main") => h("button", { type: "button", class: kind, onclick }, text);
const page = (title, ...parts) => h("section", { class: "page" }, h("h1", {}, title), ...parts);
const prose = (text) => h("div", { class: "prose" }, h("p", {}, text));
const actions = (...buttons) => h("div", { class: "actions" }, buttons);

function show(element, step = {}) {
  shown.deck?.silence();
  shown = step;
  main.replaceChildren(element);
  scrollTo(0, 0);
  const title = element.querySelector("h1");
  title?.setAttribute("tabindex", "-1");
  title?.focus({ preventScroll: true });
}

// Runs a step; what goes wrong is said with a way to go on, and loses nothing.
async function go(step) {
  try {
    await step();
  } catch (error) {
    if (error instanceof Refused) return show(page("This does not work", prose(error.message)));
    console.warn(error);
    if (error instanceof Unstored) return unstored(step);
    show(page("The connection is gone",
      prose("What you have answered is stored. Check your connection and go on."),
      actions(button("Go on", () => go(begin)))));
  }
}

// What was sent is kept until it is stored: by itself, or when the rater says so.
function unstored(step) {
  const here = {};
  const again = () => {
    if (shown !== here) return;
    shown = {}; // one try at a time
    go(step);
  };
  show(page("Not stored yet", prose(KEPT), actions(button("Try now", again))), here);
  setTimeout(again, AGAIN);
}

async function ask_session() {
  test = await ask(`session${rater ? `?rater=${encodeURIComponent(rater)}` : ""}`);
}

async function begin() {
  await ask_session();
  if (test.withdrawn) return show(page("Your answers are deleted", prose(DELETED)));
  if (test.code) return thanks();
  if (!test.consented) return welcome();
  return listen(test.trials.some((trial) => trial.answered));
}

function welcome() {
  const before = memory.get(place);
  show(consent(test, rater ? null : before, () => go(async () => {
    ({ rater } = await store("consent", { rater }));
    history.replaceState(null, "", `?rater=${encodeURIComponent(rater)}`);
    memory.set(place, rater);
    await ask_session();
    return listen(false);
  })));
}

const open = () => test.trials.find((trial) => !trial.answered);
const addresses = (trial) => Array.from({ length: trial?.sounds ?? 0 },
  (_, i) => address(`sound/${trial.order}/${i}?rater=${encodeURIComponent(rater)}`));
const loading = () => show(h("p", { class: "hint loading", role: "status" }, "Loading the sounds …"));

// From here on there are sounds: first, how loud.
async function listen(back) {
  footer.replaceChildren(button("Stop and delete my answers", leave, "quiet"));
  player ??= new Player(memory.get("volume") ?? 1);
  loading();
  const [sound] = await player.load(addresses(open()).slice(0, 1));
  const step = volume(player, sound, back, () => {
    memory.set("volume", player.volume);
    return go(test.headphones === null ? () => check(test.attempt) : next);
  });
  show(step.element, step);
}

async function check(attempt) {
  const step = headphones(player, rater, test.checks, attempt, ({ passed, again }) => {
    if (again) {
      return show(page("Not quite",
        prose("Make sure that you wear headphones, left and right at their own ears, and try once more."),
        actions(button("Try again", () => go(() => check(attempt + 1))))));
    }
    test.headphones = passed;
    return go(next);
  }, go);
  show(step.element, step);
  await step.begin();
}

function progress() {
  const trials = test.trials.filter((trial) => !trial.practice);
  const done = trials.filter((trial) => trial.answered).length;
  bar.hidden = false;
  bar.setAttribute("aria-valuemax", trials.length);
  bar.setAttribute("aria-valuenow", done);
  bar.style.setProperty("--done", done / trials.length);
  count.textContent = open() ? (open().practice ? "Practice" : `${done + 1} of ${trials.length}`) : "Done";
}

async function next() {
  const trial = open();
  progress();
  loading();
  const after = addresses(test.trials[test.trials.indexOf(trial) + 1]);
  player.keep([...addresses(trial), ...after]);
  const buffers = await player.load(addresses(trial));
  // Those of the next trial come while these are judged; what fails is asked for again then.
  player.load(after).catch(() => null);
  const step = judge(player, buffers, trial, rater, (answer) => go(async () => {
    const { code } = await store("answer", answer);
    step.forget();
    trial.answered = true;
    test.code = code;
    return code ? thanks() : next();
  }));
  show(step.element, step);
}

function thanks() {
  progress();
  memory.set(place, null);
  footer.replaceChildren(button("Delete my answers", leave, "quiet"));
  const copy = button("Copy", async () => {
    await navigator.clipboard.writeText(test.code);
    copy.textContent = "Copied";
  }, "");
  show(page("Thank you", prose("All your answers are stored. If you were asked for a code, this is it:"),
    h("p", { class: "code" }, h("output", {}, test.code), navigator.clipboard && copy),
    prose("You may close this page.")));
}

function leave() {
  if (!confirm(SURE)) return;
  go(async () => {
    await store("withdraw", { rater });
    memory.set(place, null);
    footer.replaceChildren();
    bar.hidden = true;
    count.textContent = "";
    show(page("Your answers are deleted", prose(DELETED)));
  });
}

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  // Enter on a sound that was just played means: next.
  const own = key === "Enter" ? "a, summary, .main, .quiet" : "a, summary, button";
  const native = (key === " " || key === "Enter") && target.closest(own);
  if (!native && shown.key?.(key)) event.preventDefault();
});

(function frame() {
  shown.draw?.();
  requestAnimationFrame(frame);
})();

go(begin);
