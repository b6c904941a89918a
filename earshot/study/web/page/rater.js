// A rater's way through a test: consent → volume → headphones → practice → trials → the end.

import { h } from "./dom.js";
import { among, end } from "./end.js";
import { judge, reference_first } from "./judge.js";
import { memory, place } from "./memory.js";
import { plays, Screen } from "./picture.js";
import { Player } from "./player.js";
import { due, questionnaire } from "./questions.js";
import { address, ask, Over, Refused, store, Unstored } from "./server.js";
import { check, consent, HEADPHONES, ROOM, volume } from "./start.js";
import { list, number, t, translate } from "./text.js";

const RETRY_AFTER = 10_000; // ms
const SILENT = 100; // ms between two frames while nothing sounds

const [main, bar, count, footer] = ["main", "bar", "count", "footer"].map((id) => document.getElementById(id));
const params = new URL(location.href).searchParams; // ours, and what a panel adds to the link
const { lang } = document.documentElement;
// By which a panel's member is known again: their number may be known to others.
const claim = memory.get("claim") ?? crypto.getRandomValues(new Uint8Array(16)).reduce(
  (text, byte) => text + byte.toString(16).padStart(2, "0"), "",
);
memory.set("claim", claim);
let rater = params.get("rater");
let test = null; // what the server says about the test and this rater
let player = null;
let rested = 0; // how many trials were done at the last break, or when this page was opened
let current = {}; // the step on the page: { draw, deck, key }, each where it has one
let [frame, timer] = [0, 0]; // when it is drawn next

const button = (text, onclick, kind = "main") => h("button", { type: "button", class: kind, onclick }, text);
const page = (title, ...parts) => h("section", { class: "page" }, h("h1", {}, title), ...parts);
const prose = (text) => h("div", { class: "prose" }, h("p", {}, text));
const actions = (...buttons) => h("div", { class: "actions" }, buttons);
const of_rater = (path) => `${path}?rater=${encodeURIComponent(rater)}`;

function show(element, step = {}) {
  current.deck?.silence();
  current.deck?.screen?.close();
  current = step;
  main.replaceChildren(element);
  soon();
  if (test?.preview) main.prepend(h("p", { class: "message preview" }, t("preview")));
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
    if (error instanceof Over) return go(begin); // which says that it is full, or closed
    if (error instanceof Refused) return show(page(t("refused.title"), prose(translate(error.message))));
    console.warn(error);
    if (error instanceof Unstored) return unstored(step);
    show(page(t("lost.title"), prose(t("lost.text")), actions(button(t("lost.go_on"), () => go(begin)))));
  }
}

// What was sent is kept until it is stored: by itself, or when the rater says so.
function unstored(step) {
  const here = {};
  const again = () => {
    if (current !== here) return;
    current = {}; // one try at a time
    go(step);
  };
  show(page(t("unstored.title"), prose(t("unstored.text", { n: RETRY_AFTER / 1000 })),
    actions(button(t("unstored.again"), again))), here);
  setTimeout(again, RETRY_AFTER);
}

async function begin() {
  // With what a panel's link says, by which the server knows a member who comes again.
  const first = !memory.get(`${place} opened`); // by this browser, for the count of who came
  const query = { ...Object.fromEntries(params), lang, claim, first };
  test = await ask(`session?${new URLSearchParams(query)}`);
  memory.set(`${place} opened`, true);
  if (test.rater) enter(test.rater);
  rested = answered();
  if (test.outcome) return over();
  if (!plays(test.videos)) return show(page(t("video.unplayable.title"), prose(t("video.unplayable.text"))));
  if (test.consented) return ask_about("before", () => listen(test.trials.some((trial) => trial.answered)));
  if (test.link.length && !rater && !params.get(test.link[0])) {
    return show(page(t("refused.title"), prose(t("member.text"))));
  }
  return welcome();
}

// Whoever has the address from now on goes on as this rater.
function enter(token) {
  rater = token;
  params.set("rater", rater);
  history.replaceState(null, "", `?${params}`);
  memory.set(place, rater);
}

function welcome() {
  const before = test.link.length ? null : memory.get(place);
  const decline = test.decline && (() => {
    Object.assign(test, { outcome: "no_consent", back: test.decline });
    over();
  });
  const again = !test.preview && memory.get(`${place} done`);
  show(consent(test, { before: rater ? null : before, again, device: device() }, (kind) => go(async () => {
    const panel = Object.fromEntries(test.link.filter((name) => params.get(name))
      .map((name) => [name, params.get(name)]));
    const signed = test.signed && params.get(test.signed);
    enter((await store("consent", { rater, panel, language: lang, device: kind, claim, signed })).rater);
    return begin();
  }), decline));
}

// Asks what is to be asked now, then goes on.
async function ask_about(when, go_on) {
  const trials = answered();
  const questions = due(test, when, trials);
  if (!questions.length) return go_on();
  const step = questionnaire(questions, (replies) => go(async () => {
    for (const each of replies) {
      try {
        await store("reply", { rater, trials, ...each });
      } catch (error) {
        if (!(error instanceof Over)) throw error; // closed meanwhile, and nothing more is taken
      }
      test.replied.push([each.question, trials]);
    }
    return go_on();
  }));
  show(step.element, step);
}

const answered = () => test.trials.filter((trial) => trial.answered && !trial.practice).length;
const open = () => test.trials.find((trial) => !trial.answered);
const addresses_of = (what, trial) => Array.from({ length: trial?.[`${what}s`] ?? 0 },
  (_, i) => address(of_rater(`${what}/${trial.order}/${i}`)));
const addresses = (trial) => [...addresses_of("sound", trial), ...addresses_of("picture", trial)];
const loading = () => show(h("p", { class: "hint loading", role: "status" }, t("trial.loading")));

// From here on there are sounds: first, how loud.
async function listen(back) {
  footer.replaceChildren(button(t("leave"), leave, "quiet"));
  player ??= new Player(memory.get("volume") ?? 1);
  loading();
  const first = addresses(open()).slice(0, 1);
  if ((await player.missing(first)) >= 0) {
    await skip(open(), 0);
    return test.outcome ? over() : listen(back);
  }
  const [sound] = await player.load(first);
  const step = volume(player, sound, back, () => {
    memory.set("volume", player.volume);
    return go(checks);
  });
  show(step.element, step);
}

// The checks that are still to be done, then the trials.
async function checks() {
  if (test.headphones === null) return run_check(HEADPHONES, test.checks, test.attempt, test.loudspeakers);
  if (test.room && test.environment === null) return run_check(ROOM, test.room, test.room_attempt, false);
  return next();
}

async function run_check(kind, trials, attempt, loudspeakers) {
  const next_trial = kind === HEADPHONES ? test.check : null;
  const step = check(player, rater, kind, trials, attempt, loudspeakers, next_trial, ({ passed, again, ...after }) => {
    if (kind === HEADPHONES) test.check = after.check;
    if (again) {
      return show(page(t(`${kind.texts}.failed.title`), prose(t(`${kind.texts}.failed.text`)), actions(
        button(t("check.again"), () => go(() => run_check(kind, trials, attempt + 1, loudspeakers))))));
    }
    test[kind.sends] = passed;
    Object.assign(test, after);
    if (test.outcome) return over();
    if (passed) return go(checks);
    // Now, for after all trials it would be too late to stop.
    return show(page(t(`${kind.texts}.lost.title`), prose(t(`${kind.texts}.lost.text`)),
      actions(button(t("check.lost.go_on"), () => go(checks)), button(t("leave"), leave, "quiet"))));
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
  if (!open()) count.textContent = t("count.done");
  else count.textContent = open().practice ? t("count.practice") : t("count", { n: done + 1, of: trials.length });
}

const next = () => ask_about("between", rest);

// Where the test has breaks, a page to rest at, which may be closed; not again where one comes back.
function rest() {
  const done = answered();
  const due = test.break_every && done > rested && done % test.break_every === 0;
  rested = done;
  if (!due) return judge_next();
  progress();
  return show(page(t("break.title"), prose(t("break.text", { n: done, of: test.count })),
    actions(button(t("break.go_on"), () => go(judge_next)))));
}

async function judge_next() {
  const trial = open();
  progress();
  loading();
  const after = addresses(test.trials[test.trials.indexOf(trial) + 1]);
  player.keep([...addresses(trial), ...after]);
  let lost = await player.missing(addresses(trial));
  const loaded = lost < 0 && await player.load(addresses(trial));
  const blobs = lost < 0 ? loaded.slice(trial.sounds) : [];
  const ordered = blobs.length > 1 ? reference_first(blobs, trial) : blobs;
  const screen = ordered.length ? await Screen.open(ordered).catch(() => null) : null;
  if (blobs.length && !screen) lost = trial.sounds; // what came cannot be played
  if (lost >= 0) {
    await skip(trial, lost < trial.sounds ? lost : Math.min(lost - trial.sounds, trial.sounds - 1));
    return show(page(t("missing.title"), prose(t("missing.text")),
      actions(button(t("trial.next"), () => go(() => (test.outcome ? over() : next()))))));
  }
  const buffers = loaded.slice(0, trial.sounds);
  // Those of the next trial come while these are judged; what fails is asked for again then.
  player.load(after).catch(() => null);
  const step = judge(player, buffers, screen, trial, rater, (answer) => go(async () => {
    Object.assign(test, await store("answer", answer));
    step.forget();
    advance(trial);
    const go_on = () => (test.outcome ? over() : next());
    return test.lesson ? learn(trial, test.lesson, go_on) : go_on();
  }));
  show(step.element, step);
}

// Goes on without a trial, the sound at whose place does not come.
async function skip(trial, lost) {
  Object.assign(test, await store("missing", { rater, order: trial.order, place: lost }));
  advance(trial);
}

// In an adaptive test, what comes next depends on the answers so far.
function advance(trial) {
  trial.answered = true;
  for (const each of test.coming) {
    test.trials[test.trials.findIndex(({ order }) => order === each.order)] = each;
  }
}

// What may be stored of the device, with the rater's consent: its kind, and the browser's family.
function device() {
  const agent = navigator.userAgent;
  const kind = /Mobi/.test(agent) ? "phone" : /iPad|Android|Tablet/.test(agent) ? "tablet" : "computer";
  const families = [["Edg", "Edge"], ["Firefox", "Firefox"], ["Chrome", "Chrome"], ["Safari", "Safari"]];
  return `${kind}, ${families.find(([sign]) => agent.includes(sign))?.[1] ?? "another"}`;
}

const called = (words, answer) => {
  const word = words.find(({ value }) => value === answer);
  return word.label || word.number;
};

// After a practice trial whose answer is known.
function learn(trial, { right, answer }, go_on) {
  const label = trial.gain ? `${number(answer)} dB` : Array.isArray(answer)
    ? list(answer.map((value, i) => value != null && `${t("mushra.sound", { n: i + 1 })}: ${number(value)}`))
    : called((trial.scales.find(({ typed }) => !typed) ?? trial).words, answer);
  show(page(t(right ? "lesson.right" : "lesson.wrong"), prose(t("lesson.answer", { answer: label })),
    actions(button(t("trial.next"), () => go(go_on)))));
}

// The last page, whatever led here; whoever has done everything is asked what comes after first.
function over() {
  return test.outcome === "complete" ? ask_about("after", bid_farewell) : bid_farewell();
}

function bid_farewell() {
  bar.hidden = test.outcome !== "complete";
  count.textContent = "";
  footer.replaceChildren();
  if (test.outcome === "complete") {
    progress();
    footer.replaceChildren(button(t("leave.done"), leave, "quiet"));
  }
  memory.set(place, null);
  if (test.outcome === "complete") memory.set(`${place} done`, true);
  // Who was not told before is told however the test ended for them.
  const voices = test.outcome === "complete" || (test.disclosed_after && Boolean(rater));
  const element = end({ ...test, voices }, params);
  show(element);
  if (!test.show_others || test.outcome !== "complete") return;
  // Nothing where too few have finished; and without it the end is as good.
  const question_of = (name) => test.trials[0].scales.find((scale) => scale.name === name)?.question;
  ask(of_rater("others")).then((by_scale) => {
    const scales = Object.entries(by_scale).map(([name, lines]) => ({ question: question_of(name), lines }));
    if (scales.length) element.append(among(scales));
  }, () => null);
}

function leave() {
  if (!confirm(t("leave.sure"))) return;
  go(async () => {
    Object.assign(test, await store("withdraw", { rater }));
    bid_farewell();
  });
}

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const typing = target.closest("textarea, input[type=text]");
  if (typing && (key !== "Enter" || typing.matches("textarea"))) return;
  // Enter on a sound that was just played means: next.
  const own = key === "Enter" ? "a, summary, .main, .quiet" : "a, summary, button, input[type=checkbox]";
  const native = (key === " " || key === "Enter") && target.closest(own);
  if (!native && current.key?.(typed(event))) event.preventDefault();
});

// The key by its place where the keyboard types no Latin letters or digits.
function typed({ key, code }) {
  const latin = code?.match(/^(?:Key|Digit|Numpad)(\w)$/)?.[1];
  return latin && key.length === 1 && key.charCodeAt(0) > 0x24f ? latin.toLowerCase() : key;
}

// Draws the step: in every frame while something sounds, at once after what the rater does, and else
// ten times a second, for a page that waits should take no work. A hidden page is not drawn.
function draw() {
  current.draw?.();
  if (current.deck?.active >= 0) soon();
  else timer = setTimeout(soon, SILENT);
}

function soon() {
  clearTimeout(timer);
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(draw);
}

for (const kind of ["click", "change", "input", "keydown", "pointerup"]) document.addEventListener(kind, soon);
soon();
go(begin);
