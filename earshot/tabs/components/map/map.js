// One Map: points under mouse, touch and keyboard, a player, and the query's marker.
// Listeners are on `element`, which outlives every value; its content is looked up each time.
const one = (selector) => element.querySelector(selector);
const player = () => one("audio");
const REACH = 22; // px: the largest distance from the pointer to the point that it means

// Points by id, collected once a chart: there may be thousands.
let points = new Map();
let chosen = null; // id of the chosen point
let playing = null; // id of the point whose sound is in the player

const chosenPoint = () => points.get(chosen);
const at = (point) => point.place;
const marked = (name) => element.querySelectorAll(`.${name}`);

// Where the pointer is, in units of the picture, and how many of these a pixel has.
function placeOf(event) {
  const box = one("svg").getBoundingClientRect();
  const scale = one("svg").viewBox.baseVal.width / box.width;
  return { x: (event.clientX - box.left) * scale, y: (event.clientY - box.top) * scale, scale };
}

function nearest(event) {
  const { x, y, scale } = placeOf(event);
  let best = null;
  let distance = REACH * scale;
  for (const point of points.values()) {
    const away = Math.hypot(at(point)[0] - x, at(point)[1] - y);
    if (away < distance) [best, distance] = [point, away];
  }
  return best;
}

// The nearest point in the quadrant that (dx, dy) points into.
function neighbour(from, dx, dy) {
  const ahead = [...points.values()]
    .map((point) => [point, at(point)[0] - at(from)[0], at(point)[1] - at(from)[1]])
    .filter(([, x, y]) => x * dx + y * dy > Math.abs(x * dy) + Math.abs(y * dx));
  const far = ([, x, y]) => Math.hypot(x, y);
  return ahead.reduce((best, other) => (best && far(best) <= far(other) ? best : other), null)?.[0];
}

function showTip(point) {
  const tip = one(".map-tip");
  if (!tip) return;
  tip.hidden = !point;
  if (!point) return;
  const frame = one("svg").viewBox.baseVal;
  const [x, y] = [at(point)[0] / frame.width, at(point)[1] / frame.height];
  tip.textContent = point.dataset.name;
  tip.style.left = `${100 * x}%`;
  tip.style.top = `${100 * y}%`;
  // Inside the plane: to the left of a point on the right, below a point at the top.
  tip.style.translate = `${-100 * x}% ${y < 0.15 ? "12px" : "calc(-100% - 10px)"}`;
}

function showChosen() {
  const point = chosenPoint();
  for (const old of element.querySelectorAll('.map-point[aria-selected="true"]'))
    old.setAttribute("aria-selected", false);
  point?.setAttribute("aria-selected", true);
  for (const old of marked("map-playing")) old.classList.remove("map-playing");
  if (playing && !player().paused) points.get(playing)?.classList.add("map-playing");
  const line = one(".map-chosen");
  line.hidden = !point;
  if (!point) return one(".map-plane").removeAttribute("aria-activedescendant");
  one(".map-plane").setAttribute("aria-activedescendant", point.id);
  line.querySelector("b").textContent = point.dataset.name;
  line.classList.toggle("tl-on", playing === chosen && !player().paused);
}

// The query's marker moves; the points are not rendered again.
function showMarker() {
  const layer = one(".map-query-layer");
  const fresh = layer.cloneNode();
  fresh.innerHTML = props.marker;
  const [old, marker] = [layer.firstElementChild, fresh.firstElementChild];
  if (old && marker) {
    old.setAttribute("style", marker.getAttribute("style"));
    old.replaceChildren(...marker.children);
  } else layer.replaceChildren(...fresh.children);
  one(".map").classList.toggle("map-queried", !!marker);
  for (const point of marked("map-highlighted")) point.classList.remove("map-highlighted");
  for (const id of props.highlighted) points.get(id)?.classList.add("map-highlighted");
}

function choose(point) {
  chosen = point.dataset.id;
  showChosen();
  showTip(point);
}

function play(point) {
  const { id, sound } = point.dataset;
  trigger("select", { id });
  if (!sound) return;
  if (playing === id && !player().paused) return player().pause();
  if (playing !== id) player().src = sound;
  playing = id;
  player().play().catch(() => (one(".map-chosen b").textContent = "This sound is no longer there."));
}

function render() {
  points = new Map();
  if (!one(".map")) return;
  marked("map-point").forEach((point, i) => {
    point.id = `${element.id || "map"}-point-${i}`;
    point.place = [Number(point.dataset.x), Number(point.dataset.y)];
    points.set(point.dataset.id, point);
  });
  // The player stops when its point is gone.
  if (!points.has(playing)) {
    playing = null;
    player().pause();
  }
  showTip(null);
  showChosen();
  showMarker();
  chooseArea(false);
}

element.addEventListener("pointermove", (event) => {
  if (event.pointerType !== "mouse" || !event.target.closest(".map-plane")) return;
  showTip(choosing() ? null : nearest(event));
});
element.addEventListener("pointerout", () => showTip(null));
element.addEventListener("click", (event) => {
  if (event.target.closest(".map-chosen button")) return trigger("submit", { id: chosen });
  if (event.target.closest(".map-chosen") && chosenPoint()) return play(chosenPoint());
  if (event.target.closest(".map-choose button")) return chooseArea(!choosing());
  const point = event.target.closest(".map-plane") && !choosing() && nearest(event);
  if (!point) return;
  choose(point);
  play(point);
});
element.addEventListener("keydown", (event) => {
  if (!event.target.closest(".map-plane")) return;
  const from = chosenPoint() ?? one(".map-highlighted") ?? one(".map-point");
  const [dx, dy] =
    { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] ?? [];
  if (dx !== undefined) {
    event.preventDefault();
    const to = chosenPoint() ? neighbour(from, dx, dy) : from;
    if (to) choose(to);
    if (choosing()) showCircle();
  } else if (choosing() && circleKey(event.key)) {
    event.preventDefault();
  } else if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    choose(from);
    play(from);
  } else if (event.key === "Escape") {
    chosen = null;
    chooseArea(false);
    showChosen();
    showTip(null);
  }
});
// Media events do not bubble: they are observed in the capture phase.
for (const event of ["play", "pause"]) element.addEventListener(event, showChosen, true);

watch("value", render);
watch(["marker", "highlighted"], () => one(".map") && showMarker());
queueMicrotask(render); // when area.js, which follows, has run
