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
let dragging = null; // "cells" or "time" while the mouse is down, or a finger after a long press
let pointer = "mouse";
let pressing = null; // what a long press begins when its time is up
let pressed = false; // whether the press that ends was a long one
let frame = 0; // in which the playhead moves next
let queue = []; // tracks that are still to be played one after another

const LONG_PRESS = 400; // ms
const MIN_ZOOMED_CELL = 12; // px of a unit cell, where one looks as closely as one can
const touch = matchMedia("(pointer: coarse)").matches;

const isVideo = (player) => player.tagName === "VIDEO";
const seconds = () => Number(one(".tl")?.dataset.seconds ?? 0);

function showTime() {
  const length = seconds();
  if (!length) return;
  // Of the head alone: whatever inherits it has its style computed anew, in every frame.
  one(".tl-head").style.setProperty("--time", Math.min(time / length, 1));
  // The text alone, too: for a new node, selectors with :has are matched anew in all of the page.
  one(".tl-time").firstChild.data = `${time.toFixed(2)} / ${length.toFixed(2)} s`;
}

function showPlaying() {
  all(".tl-play").forEach((button, i) => {
    const playing = !players()[i].paused;
    button.setAttribute("aria-pressed", playing);
    button.classList.toggle("tl-on", playing);
  });
  // One picture is enough: of the track that plays, or did.
  const videos = players().filter(isVideo);
  const picture = videos.includes(players()[current]) ? players()[current] : videos[0];
  for (const video of videos) video.closest("figure").hidden = video !== picture;
}

// One loop, however often another track is played meanwhile.
function follow() {
  cancelAnimationFrame(frame);
  const player = players()[current];
  if (!player || player.paused) return;
  time = player.currentTime;
  showTime();
  if (zoom > 1) keepInSight();
  frame = requestAnimationFrame(follow);
}

function seek(to) {
  time = Math.max(0, Math.min(to, seconds()));
  for (const player of players()) if (!player.paused || isVideo(player)) player.currentTime = time;
  showTime();
}

// Where the playhead is in the scrolled lanes, in px from what is seen first.
function headAt() {
  return one(".tl-head").offsetLeft - one(".tl-scroll").scrollLeft;
}

function keepInSight() {
  const scroll = one(".tl-scroll");
  if (headAt() < 0 || headAt() > scroll.clientWidth - 24) scroll.scrollLeft += headAt() - 60;
}

function maxZoom() {
  const width = one(".tl-scroll").clientWidth || 1;
  const most = Math.max(...all(".tl-units").map((list) => list.querySelectorAll("i").length), 0);
  return Math.max(8, 2 ** Math.ceil(Math.log2((MIN_ZOOMED_CELL * most) / width)));
}

// All of it fits its card at zoom 1. What lies under the playhead, or else in the middle, stays.
function look(to) {
  const scroll = one(".tl-scroll");
  const seen = headAt() >= 0 && headAt() <= scroll.clientWidth ? headAt() : scroll.clientWidth / 2;
  const share = (scroll.scrollLeft + seen) / one(".tl-lanes").offsetWidth;
  zoom = Math.max(1, Math.min(maxZoom(), to));
  one(".tl-lanes").style.setProperty("--zoom", zoom);
  scroll.scrollLeft = share * one(".tl-lanes").offsetWidth - seen;
  showZoom();
}

function showZoom() {
  const [out, closer] = all(".tl-zoom");
  out.disabled = zoom <= 1;
  closer.disabled = zoom >= maxZoom();
  const steps = all(".tl-axis [data-zoom]");
  const fits = steps.filter((step) => Number(step.dataset.zoom) <= zoom).at(-1);
  for (const step of steps) step.hidden = step !== fits;
}

function play(track) {
  const player = players()[track];
  if (!player) return;
  queue = [];
  used();
  if (!player.paused) return player.pause();
  start(track);
}

function start(track) {
  const player = players()[track];
  current = track;
  // At once: the page silences other sounds only when it is told that this one plays.
  for (const other of players()) if (other !== player) other.pause();
  // A sound that is over starts again; else tracks change places under the same playhead.
  if (time >= (player.duration || seconds()) - 0.05) time = 0;
  player.currentTime = time;
  // A browser that wants to be asked once more says no: the buttons are there. And whoever pauses
  // at once aborts what has not begun.
  player.play().catch((error) => {
    if (!["NotAllowedError", "AbortError"].includes(error.name)) throw error;
  });
}

// The timelines of the page, the one that was used last first: keys go to the first in sight.
function used() {
  const others = (window.timelines ?? []).filter((other) => other.isConnected && other !== element);
  window.timelines = [element, ...others];
}
const inSight = (other) => other.checkVisibility() && other.querySelector(".tl-play");

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
    ? touch ? status.dataset.touch : status.dataset.hint
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

// All that the number of an action can stand for, similar colours together.
function fill(palette) {
  const hue = (color) => {
    const [r, g, b] = [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16));
    return Math.atan2(Math.sqrt(3) * (g - b), 2 * r - g - b);
  };
  const colors = palette.dataset.colors.split(" ").map((color, number) => ({ color, number }));
  colors.sort((one, other) => hue(one.color) - hue(other.color));
  one(".tl-swatches").innerHTML = colors
    .map(({ color, number }) => `<button type="button" class="tl-swatch" data-number="${number}" `
      + `style="background:${color}" aria-label="unit ${number}"></button>`)
    .join("");
}

function pick(button) {
  const swatches = one(".tl-swatches");
  if (!swatches.childElementCount) fill(one(".tl-palette"));
  swatches.hidden = !swatches.hidden;
  button.setAttribute("aria-expanded", !swatches.hidden);
}

function hear(swatch) {
  const number = Number(swatch.dataset.number);
  one(".tl-action input").value = number;
  for (const other of all(".tl-swatch")) other.classList.toggle("tl-heard", other === swatch);
  trigger("hear", { number });
}

function answer() {
  const tracks = one(".tl")?.dataset.answer;
  if (!tracks || !element.checkVisibility()) return;
  used();
  const [first, ...others] = tracks.split(" ").map(Number);
  queue = others;
  time = 0;
  start(first);
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
  showZoom();
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
  pressed = false;
  used();
  const box = event.target.closest(".tl-box");
  if (!box || event.button) return;
  const index = cellOf(event.target);
  if (pointer !== "mouse") {
    if (index >= 0) press(event, index);
    return;
  }
  dragging = index < 0 ? "time" : "cells";
  if (index < 0) return seek(timeAt(event, box));
  if (event.ctrlKey || event.metaKey) return toggle(index);
  if (!event.shiftKey) anchor = index;
  choose(anchor, index);
  seek(timeAt(event, box));
});
element.addEventListener("pointermove", (event) => {
  const under = document.elementFromPoint(event.clientX, event.clientY);
  const box = under?.closest(".tl-box");
  if (!dragging || !(event.buttons & 1) || !box || !element.contains(box)) return;
  if (dragging === "time") return seek(timeAt(event, box));
  const index = cellOf(under);
  if (index >= 0 && index !== cursor) choose(anchor, index);
});
const release = () => {
  clearTimeout(pressing);
  dragging = null;
};
for (const end of ["pointerup", "pointerleave", "pointercancel"]) {
  element.addEventListener(end, release);
}

// A finger that stays on a cell selects it, and extends the selection where it goes then; one that
// moves before scrolls the page, which cancels its pointer.
function press(event, index) {
  event.target.releasePointerCapture?.(event.pointerId);
  clearTimeout(pressing);
  pressing = setTimeout(() => {
    pressed = true;
    dragging = "cells";
    anchor = index;
    choose(index, index);
    navigator.vibrate?.(10);
  }, LONG_PRESS);
}
element.addEventListener("touchmove", (event) => {
  if (dragging === "cells") event.preventDefault();
}, { passive: false });
element.addEventListener("contextmenu", (event) => {
  if (pointer !== "mouse" && cellOf(event.target) >= 0) event.preventDefault();
});

element.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.dataset.again) {
    const main = element.closest("[role=tabpanel]").querySelectorAll("button.primary:enabled");
    return [...main].find((each) => each.checkVisibility())?.click();
  }
  if (button?.dataset.track) return play(Number(button.dataset.track));
  if (button?.dataset.action) return act(button);
  if (button?.dataset.zoom) return look(zoom * Number(button.dataset.zoom));
  if (button?.matches(".tl-pick")) return pick(button);
  if (button?.matches(".tl-swatch")) return hear(button);
  if (isVideo(event.target)) return play(players().indexOf(event.target));
  const box = event.target.closest(".tl-box");
  if (!box) return;
  if (pointer !== "mouse") {
    if (pressed) return;
    const index = cellOf(event.target);
    if (index >= 0 && chosen.size) toggle(index);
    else seek(timeAt(event, box));
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
  if (playKey(event)) return;
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

// Space plays; 1, 2 … go on with another track at the same place. Returns whether it was one.
function playKey(event) {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  if (target.closest("input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]")) {
    return false;
  }
  const track = Number(key) - 1;
  if (/^[1-9]$/.test(key) && players()[track]) {
    if (players()[track].paused) play(track);
  } else if (key === " " && !target.closest("button, a, summary, [role=button], [role=tab]")) {
    play(current);
  } else {
    return false;
  }
  event.preventDefault();
  return true;
}
// Wherever else on the page the visitor is.
const anywhere = (event) => {
  if (!element.isConnected) return window.removeEventListener("keydown", anywhere);
  if (event.defaultPrevented || element.contains(event.target)) return;
  if (window.timelines?.find(inSight) === element) playKey(event);
};
window.addEventListener("keydown", anywhere);

// Media events do not bubble, but they can be caught on the way down.
element.addEventListener("play", () => (showPlaying(), follow()), true);
element.addEventListener("pause", showPlaying, true);
element.addEventListener("ended", ({ target }) => {
  if (players()[current] === target) time = target.duration; // the last frame may be long ago
  showTime();
  if (!queue.length) return;
  time = 0;
  start(queue.shift());
}, true);
// The server deletes results within the hour, and a page may be open for longer.
element.addEventListener("error", (event) => {
  const gone = one(".tl-gone");
  if (gone && players().includes(event.target)) gone.hidden = false;
}, true);

// What the cell under the mouse says, next to it.
element.addEventListener("pointerover", (event) => {
  const cell = event.target.closest(".tl-units i, .tl-cells i, .tl-caption i, .tl-swatch");
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

watch("value", () => (render(), answer()));
window.timelines = [...(window.timelines ?? []), element];
new ResizeObserver(() => one(".tl") && look(zoom)).observe(element);
render();
