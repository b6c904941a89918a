// A rater of the vote: agrees by pressing the button, hears both sounds, presses once.
const one = (selector) => element.querySelector(selector);
const all = (selector) => [...element.querySelectorAll(selector)];
const place = (path) => new URL(`listen/${props.test}/${path}`, document.baseURI);

let rater = null; // the token, of this page only
let order = 0; // of the pair
let left = []; // orders that are still to come
let sounds = []; // players of A and B
let plays = [];
let began = 0;

async function ask(path, body) {
  const request = body && {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  const response = await fetch(place(path), request);
  if (response.ok) return response;
  const { detail } = await response.json().catch(() => ({}));
  throw new Error(typeof detail === "string" ? detail : "The vote did not arrive. Try again.");
}

function say(text) {
  const message = one(".vote-message");
  message.textContent = text;
  message.hidden = !text;
}

async function player(at) {
  const blob = await (await ask(`sound/${order}/${at}?rater=${rater}`)).blob();
  const sound = new Audio(URL.createObjectURL(new Blob([blob], { type: "audio/wav" })));
  const button = all(".vote-play")[at];
  const show = () => {
    button.classList.toggle("tl-on", !sound.paused);
    hint();
  };
  sound.addEventListener("play", show);
  sound.addEventListener("pause", show);
  sound.addEventListener("ended", () => ended(at));
  return sound;
}

// What is still to be heard, and how: a sound that was paused goes on where it was.
function hint() {
  const missing = ["A", "B"].filter((_, at) => !plays[at]);
  const playing = sounds.some((sound) => !sound.paused);
  one(".vote-hint").textContent = !missing.length
    ? "Press the one that is clearer, or hear them again."
    : `Both have to be heard to the end.${playing ? "" : ` Press ${missing[0]}.`}`;
}

// The second follows the first by itself, once; then one may vote.
function ended(at) {
  plays[at] += 1;
  if (at === 0 && !plays[1]) sounds[1].play();
  for (const button of all("[data-answer]")) button.disabled = !plays.every(Boolean);
  hint();
}

async function begin() {
  const button = one(".vote-begin");
  button.disabled = true;
  say("");
  try {
    if (!rater) {
      rater = (await (await ask("consent", {})).json()).rater;
      const { trials } = await (await ask(`session?rater=${rater}`)).json();
      left = trials.map((trial) => trial.order);
    }
    order = left[0];
    for (const sound of sounds) URL.revokeObjectURL(sound.src);
    sounds = await Promise.all([player(0), player(1)]);
    plays = [0, 0];
    for (const answer of all("[data-answer]")) answer.disabled = true;
    one(".vote-pair").hidden = false;
    button.hidden = true;
    began = performance.now();
    await sounds[0].play();
  } catch (error) {
    say(error.message);
  }
  button.disabled = false;
}

async function vote(answer) {
  for (const sound of sounds) sound.pause();
  for (const button of all("[data-answer]")) button.disabled = true;
  try {
    const milliseconds = Math.round(performance.now() - began);
    await ask("answer", { rater, order, answer, plays, milliseconds });
    trigger("score", { rater, order });
    left.shift();
    one(".vote-pair").hidden = true;
    one(".vote-begin").hidden = !left.length;
    one(".vote-begin").textContent = "Another pair";
    say(left.length ? "" : "These were all pairs. Thank you.");
  } catch (error) {
    say(error.message);
    for (const button of all("[data-answer]")) button.disabled = false;
  }
}

element.addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (button?.matches(".vote-begin")) return begin();
  if (button?.dataset.answer) return vote(button.dataset.answer);
  const sound = sounds[button?.dataset.place];
  if (sound) sound.paused ? sound.play() : sound.pause();
});
