// One Timeline: its playhead, players, keyboard and unit cells. Handlers sit on `element`, which
// outlives every value; what is inside it does not, so it is looked up when needed.
const one = (selector) => element.querySelector(selector);
const all = (selector) => [...element.querySelectorAll(selector)];
const cells = () => all(".tl-units[role=listbox] [role=option]");
const players = () => all("audio, video");

let time = Number(one(".tl")?.dataset.start ?? 0); // seconds
let current = 0; // the track that the space bar plays
let zoom = 1;
let chosen = new Set(); // indices of cells
let anchor = 0; // where a range starts
let cursor = 0; // the cell that the keyboard is on
let cellCount = 0;
let dragging = null; // "cells" or "time" while the mouse is down
let pointer = "mouse";

const isVideo = (player) => player.tagName === "VIDEO";
const seconds = () => Number(one(".tl")?.dataset.seconds ?? 0);

function showTime() {
  const length = seconds();
  if (!length) return;
  // Of the head alone: whatever inherits it has its style computed anew, in every frame.
  one(".tl-head").style.setProperty("--time", Math.min(time / length, 1));
  one(".tl-time").textContent = `${time.toFixed(2)} / ${length.toFixed(2)} s`;
}

function showPlaying() {
  all(".tl-play").forEach((button, i) => {
    const playing = !players()[i].paused;
    button.setAttribute("aria-pressed", playing);
    button.classList.toggle("tl-on", playing);
  });
}

function follow() {
  const player = players()[current];
  if (!player || player.paused) return;
  time = player.currentTime;
  showTime();
  requestAnimationFrame(follow);
}

function seek(to) {
  time = Math.max(0, Math.min(to, seconds()));
  for (const player of players()) if (!player.paused || isVideo(player)) player.currentTime = time;
  showTime();
}

function play(track) {
  const player = players()[track];
  if (!player) return;
  if (!player.paused) return player.pause();
  current = track;
  // A sound that is over starts again; else tracks change places under the same playhead.
  if (time >= (player.duration || seconds()) - 0.05) time = 0;
  player.currentTime = time;
  player.play();
}

function showChosen() {
  const list = cells();
  list.forEach((cell, i) => {
    cell.setAttribute("aria-selected", chosen.has(i));
    cell.classList.toggle("tl-cursor", i === cursor);
  });
  const indices = [...chosen].sort((a, b) => a - b);
  const status = one(".tl-chosen");
  if (!status) return;
  const names = [...new Set(indices.map((i) => list[i].dataset.name))];
  status.textContent = !indices.length
    ? status.dataset.hint
    : indices.length === 1
      ? `Chosen: ${list[indices[0]].getAttribute("aria-label")}`
      : `Chosen: ${indices.length} units` + (names.length === 1 ? ` (${names[0]})` : "");
  for (const button of all("button[data-needs=cells]")) button.disabled = !indices.length;
}

function choose(from, to, keep = false) {
  if (!keep) chosen = new Set();
  for (let i = Math.min(from, to); i <= Math.max(from, to); i++) chosen.add(i);
  cursor = to;
  showChosen();
}

function toggle(index) {
  chosen.has(index) ? chosen.delete(index) : chosen.add(index);
  anchor = cursor = index;
  showChosen();
}

function act(button) {
  if (!button || button.disabled) return;
  const field = button.parentElement.querySelector("input");
  if (field && !(field.value !== "" && field.checkValidity())) return field.focus();
  const { event, action } = button.dataset;
  const detail = { action, cells: [...chosen].sort((a, b) => a - b), number: field?.valueAsNumber };
  trigger(event === "submit" ? "submit" : "edit", detail);
}

function render() {
  if (!one(".tl")) return;
  one(".tl").classList.add("tl-live");
  if (cells().length !== cellCount) {
    cellCount = cells().length;
    chosen = new Set();
    anchor = cursor = 0;
  }
  time = Math.min(time, seconds());
  one(".tl-lanes").style.setProperty("--zoom", zoom);
  for (const video of players().filter(isVideo)) {
    video.controls = false; // the timeline has them
    video.currentTime = time;
  }
  showTime();
  showPlaying();
  showChosen();
}

const timeAt = (event, span) => {
  const box = span.getBoundingClientRect();
  return ((event.clientX - box.left) / box.width) * seconds();
};
const cellOf = (target) => cells().indexOf(target.closest("[role=option]"));

element.addEventListener("pointerdown", (event) => {
  pointer = event.pointerType;
  const box = event.target.closest(".tl-box");
  if (!box || pointer !== "mouse" || event.button) return;
  const index = cellOf(event.target);
  dragging = index < 0 ? "time" : "cells";
  if (index < 0) return seek(timeAt(event, box));
  if (event.ctrlKey || event.metaKey) return toggle(index);
  if (!event.shiftKey) anchor = index;
  choose(anchor, index);
  seek(timeAt(event, box));
});
element.addEventListener("pointermove", (event) => {
  const box = event.target.closest(".tl-box");
  if (!dragging || !(event.buttons & 1) || !box) return;
  if (dragging === "time") return seek(timeAt(event, box));
  const index = cellOf(event.target);
  if (index >= 0 && index !== cursor) choose(anchor, index);
});
element.addEventListener("pointerup", () => (dragging = null));
element.addEventListener("pointerleave", () => (dragging = null));

element.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.dataset.track) return play(Number(button.dataset.track));
  if (button?.dataset.action) return act(button);
  if (button?.dataset.zoom) {
    zoom = Math.max(1, Math.min(8, zoom * Number(button.dataset.zoom)));
    return one(".tl-lanes").style.setProperty("--zoom", zoom);
  }
  if (isVideo(event.target)) return play(players().indexOf(event.target));
  const box = event.target.closest(".tl-box");
  if (!box) return;
  if (pointer !== "mouse") {
    const index = cellOf(event.target);
    if (index >= 0) toggle(index);
    seek(timeAt(event, box));
  }
  if (one(".tl").dataset.plays && players()[current]?.paused) play(current);
});

element.addEventListener("dblclick", (event) => {
  const run = event.target.closest(".tl-units[role=listbox] li");
  if (!run) return;
  const inRun = [...run.querySelectorAll("[role=option]")].map((cell) => cells().indexOf(cell));
  anchor = inRun[0];
  choose(inRun[0], inRun.at(-1));
});

element.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (target.closest("input")) {
    if (key === "Enter") act(target.closest(".tl-action").querySelector("button"));
    return;
  }
  if (key === " " && !target.closest("button, a")) {
    event.preventDefault();
    return play(current);
  }
  const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (!target.closest("[role=listbox]")) {
    if (!step || target.closest("button, a")) return;
    event.preventDefault();
    return seek(time + step * (event.shiftKey ? 1 : 0.1));
  }
  const last = cells().length - 1;
  const to = { Home: 0, End: last }[key] ?? (step && Math.max(0, Math.min(last, cursor + step)));
  if (to !== undefined) {
    event.preventDefault();
    if (!event.shiftKey) anchor = to;
    choose(anchor, to);
    cells()[to].scrollIntoView({ block: "nearest", inline: "nearest" });
  } else if (key === "a" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    choose(0, last);
  } else if (key === "Escape") {
    chosen = new Set();
    showChosen();
  } else {
    const button = all("button[data-key]").find((b) => b.dataset.key === key);
    if (!button || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    act(button);
  }
});

// Media events do not bubble, but they can be caught on the way down.
element.addEventListener("play", () => (showPlaying(), follow()), true);
element.addEventListener("pause", showPlaying, true);

// What the cell under the mouse says, beside it.
element.addEventListener("pointerover", (event) => {
  const cell = event.target.closest(".tl-units i, .tl-cells i, .tl-caption i");
  const tip = one(".tl-tip");
  if (!tip) return;
  tip.hidden = !cell;
  if (!cell) return;
  tip.textContent = cell.getAttribute("aria-label");
  const at = cell.getBoundingClientRect();
  const within = one(".tl").getBoundingClientRect();
  tip.style.left = `${Math.max(48, Math.min(at.left + at.width / 2 - within.left, within.width - 48))}px`;
  tip.style.top = `${at.top - within.top}px`;
});
element.addEventListener("pointerout", () => one(".tl-tip")?.setAttribute("hidden", ""));

watch("value", render);
render();
