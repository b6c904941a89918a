// The handles of a cut, the playhead in it, and its buttons. Handlers sit on `element`, which
// outlives every value.
const one = (selector) => element.querySelector(selector);
const MIN_WORD = 0.1; // seconds of a word
const number = (name) => Number(one(`.cut-${name}`).value);

function show() {
  if (!one(".cut")) return;
  const [start, end, length] = [number("start"), number("end"), Number(one(".cut-end").max)];
  const { style } = one(".cut-wave");
  style.setProperty("--start", start / length);
  style.setProperty("--end", end / length);
  one("output").textContent = `${start.toFixed(2)} to ${end.toFixed(2)} s`;
  const player = one("audio");
  one(".word-play").classList.toggle("tl-on", !player.paused);
  one(".cut-head").hidden = player.paused;
}

function follow() {
  const player = one("audio");
  if (!player || player.paused) return;
  if (player.currentTime >= number("end")) player.pause();
  one(".cut-wave").style.setProperty("--time", player.currentTime / Number(one(".cut-end").max));
  requestAnimationFrame(follow);
}

function render() {
  if (!one(".cut")) return;
  // A range that stays in the page keeps where it was moved to.
  for (const range of element.querySelectorAll("input")) range.value = range.getAttribute("value");
  one(".cut-use").disabled = one(".cut-use").dataset.used === "True";
  show();
}

element.addEventListener("input", (event) => {
  const isStart = event.target.matches(".cut-start");
  const other = number(isStart ? "end" : "start");
  if (isStart) event.target.value = Math.min(event.target.value, other - MIN_WORD);
  else event.target.value = Math.max(event.target.value, other + MIN_WORD);
  one(".cut-use").disabled = false;
  show();
});
element.addEventListener("click", (event) => {
  if (event.target.closest(".cut-use")) {
    return trigger("submit", { start: number("start"), end: number("end") });
  }
  if (!event.target.closest(".word-play")) return;
  const player = one("audio");
  if (!player.paused) return player.pause();
  player.currentTime = number("start");
  player.play();
});
for (const name of ["play", "pause"]) element.addEventListener(name, () => (show(), follow()), true);

watch("value", render);
render();
