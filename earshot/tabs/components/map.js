// One Map: points under mouse, touch and keyboard, a player, and the query's marker.
// Listeners are on `element`, which outlives every value; its content is looked up each time.
const one = (selector) => element.querySelector(selector);
const player = () => one("audio");
const MAX_DISTANCE = 22; // px: the largest distance from the pointer to the point that it means
const MAX_ZOOM = 16;
const ZOOM_STEP = 1.6;
const LABEL = { px: 13, letter: 7.6, line: 16, gap: 4, aside: 8, near: 15 }; // sizes on the screen, in px
const MAX_LABELS = 140;
const narrow = matchMedia("(max-width: 760px)"); // a phone, on which the picture is as high as wide
const MAX_NEAR = 7; // labels of points next to the query that get their own colour

// Points by id, collected once a chart: there may be thousands.
let points = new Map();
let chosen = null; // id of the chosen point
let playing = null; // id of the point whose sound is in the player
let looks = { layouts: [], colorings: [] }; // what the buttons above the plane change between
const whole = { width: 1, height: 1 }; // the picture's size
let drawn = 1; // its height as it came
let view = { x: 0, y: 0, zoom: 1 }; // the part of it that is seen
let selection = { layout: 0, coloring: 0 };

const chosenPoint = () => points.get(chosen);
const at = (point) => point.place;
const marked = (name) => element.querySelectorAll(`.${name}`);

// Where the pointer is, in units of the picture, and how many of these a pixel has.
function placeOf(event) {
  const box = one("svg").getBoundingClientRect();
  const scale = seen().width / box.width;
  const { x, y } = seen();
  return { x: x + (event.clientX - box.left) * scale, y: y + (event.clientY - box.top) * scale, scale };
}

const seen = () => one("svg").viewBox.baseVal;

function nearest(event) {
  const { x, y, scale } = placeOf(event);
  let best = null;
  let distance = MAX_DISTANCE * scale;
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
  const frame = seen();
  const x = (at(point)[0] - frame.x) / frame.width;
  const y = (at(point)[1] - frame.y) / frame.height;
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
    old.dataset.places = marker.dataset.places;
    old.replaceChildren(...marker.children);
  } else layer.replaceChildren(...fresh.children);
  placeMarker();
  one(".map").classList.toggle("map-queried", !!marker);
  for (const point of marked("map-highlighted")) point.classList.remove("map-highlighted");
  for (const id of props.highlighted) points.get(id)?.classList.add("map-highlighted");
  if (isNear()) showColoring();
  showLabels();
}

// The star, in sight wherever the map is zoomed to.
function placeMarker() {
  const marker = one(".map-query");
  if (!marker) return;
  const places = JSON.parse(marker.dataset.places);
  const [x, y] = places[selection.layout] ?? places[0];
  const margin = Number(one("svg").dataset.margin);
  const left = margin + x * (whole.width - 2 * margin);
  const top = margin + y * (whole.height - 2 * margin);
  marker.style.translate = `${left}px ${top}px`;
  reveal(left, top);
}

function reveal(left, top) {
  const { x, y, width, height } = seen();
  if (left < x || top < y || left > x + width || top > y + height)
    look(left - width / 2, top - height / 2, view.zoom);
}

// Zoom and pan: the part of the picture that is seen. Points and the star keep their size.
function look(x, y, zoom) {
  zoom = Math.min(MAX_ZOOM, Math.max(1, zoom));
  const [width, height] = [whole.width / zoom, whole.height / zoom];
  x = Math.min(whole.width - width, Math.max(0, x));
  y = Math.min(whole.height - height, Math.max(0, y));
  view = { x, y, zoom };
  one("svg").setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
  one("svg").style.setProperty("--shrink", zoom ** -0.8);
  one(".map").classList.toggle("map-zoomed", zoom > 1);
  one('[data-zoom="out"]').disabled = one('[data-zoom="all"]').disabled = zoom === 1;
  one('[data-zoom="in"]').disabled = zoom === MAX_ZOOM;
  showTip(null);
  showLabels();
}

// The place (x, y) of the picture stays where it is on the screen.
function zoomAt(x, y, factor) {
  const zoom = Math.min(MAX_ZOOM, Math.max(1, view.zoom * factor));
  const share = view.zoom / zoom;
  look(x - (x - view.x) * share, y - (y - view.y) * share, zoom);
}

function zoom(action) {
  if (action === "all") return look(0, 0, 1);
  const middle = [view.x + whole.width / view.zoom / 2, view.y + whole.height / view.zoom / 2];
  zoomAt(...middle, action === "in" ? ZOOM_STEP : 1 / ZOOM_STEP);
}

// Labels where there is room: those of highlighted points first; once for points of one label.
function showLabels() {
  const layer = one(".map-labels");
  const box = one("svg").getBoundingClientRect();
  if (!layer || !box.width) return;
  const unit = seen().width / box.width; // of the picture, in a pixel
  const first = [...marked("map-highlighted")];
  const labelled = [...first, ...points.values()].filter((point) => point.dataset.label);
  const taken = []; // boxes on the screen: left, top, right, bottom
  const done = new Set();
  const texts = [];
  for (const point of labelled) {
    if (texts.length === MAX_LABELS) break;
    const text = point.dataset.label;
    if (done.has(text)) continue;
    const aside = point.classList.contains("map-highlighted") ? LABEL.near : LABEL.aside;
    const x = (at(point)[0] - seen().x) / unit + aside;
    const y = (at(point)[1] - seen().y) / unit;
    const right = x + LABEL.letter * text.length;
    if (x < 0 || y < LABEL.line || right > box.width || y > box.height - 4) continue;
    const own = [x - LABEL.gap, y - LABEL.line / 2, right + LABEL.gap, y + LABEL.line / 2];
    if (taken.some((b) => own[0] < b[2] && own[2] > b[0] && own[1] < b[3] && own[3] > b[1])) continue;
    taken.push(own);
    done.add(text);
    texts.push([point, text, aside]);
  }
  const nodes = texts.map(([point, text, aside]) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", "text");
    node.setAttribute("x", at(point)[0] + aside * unit);
    node.setAttribute("y", at(point)[1] + 4 * unit);
    node.textContent = text;
    if (point.classList.contains("map-highlighted")) node.classList.add("map-near");
    return node;
  });
  layer.style.fontSize = `${LABEL.px * unit}px`;
  layer.style.strokeWidth = 3 * unit;
  layer.replaceChildren(...nodes);
}

// The picture's own height is for a wide plane: on a narrow one, places move apart downwards.
function place(point, [x, y]) {
  const margin = Number(one("svg").dataset.margin);
  point.place = [x, margin + ((y - margin) * (whole.height - 2 * margin)) / (drawn - 2 * margin)];
  point.style.translate = `${point.place[0]}px ${point.place[1]}px`;
}

// Places every point of the layout that is shown, and shows the whole picture.
function spread() {
  whole.height = narrow.matches ? whole.width : drawn;
  const places = looks.layouts[selection.layout]?.places;
  [...points.values()].forEach((point, i) =>
    place(point, places?.[i] ?? [Number(point.dataset.x), Number(point.dataset.y)]),
  );
  placeMarker();
  chooseArea(false);
  look(0, 0, 1);
}
// A phone was turned, or a window made narrower.
narrow.addEventListener("change", () => points.size && spread());

function showLayout() {
  one(".map-note").textContent = looks.layouts[selection.layout].note;
  spread();
}

const isNear = () => looks.colorings[selection.coloring] && !looks.colorings[selection.coloring].of.length;

// The categories of the coloring, and the number of each point's, -1 for those in the background.
function coloring() {
  const { categories, rest, of } = looks.colorings[selection.coloring];
  if (!isNear()) return { categories, rest, of };
  const labels = props.highlighted.map((id) => points.get(id)?.dataset.label).filter(Boolean);
  const near = [...new Set(labels)].slice(0, MAX_NEAR);
  return {
    categories: near,
    rest,
    of: [...points.values()].map((point) => near.indexOf(point.dataset.label)),
  };
}

function showColoring() {
  const { categories, rest, of } = coloring();
  const markerOf = (number) => (number < 0 ? looks.faint : looks.markers[number % looks.markers.length]);
  const front = [];
  [...points.values()].forEach((point, i) => {
    const [fill, line] = markerOf(of[i]);
    point.style.fill = fill;
    point.setAttribute("d", line);
    const category = of[i] < 0 ? rest : categories[of[i]];
    point.setAttribute("aria-label", `${point.dataset.name}, ${category}`);
    if (of[i] >= 0) front.push(point);
  });
  if (front.length < points.size) one(".map-area").before(...front); // over the background
  const present = new Set(of);
  const half = 1.45 * looks.size;
  const legend = [...categories.entries(), [-1, rest]]
    .filter(([number]) => present.has(number))
    .map(([number, category]) => {
      const item = document.createElement("span");
      const [fill, line] = markerOf(number);
      item.innerHTML =
        `<svg class="map-marker" viewBox="${-half} ${-half} ${2 * half} ${2 * half}" ` +
        `aria-hidden="true"><path style="fill:${fill}" d="${line}"/></svg>`;
      item.append(category);
      return item;
    });
  one(".map-legend").replaceChildren(...legend);
}

function changeLook(button) {
  for (const kind of ["layout", "coloring"]) {
    if (!(kind in button.dataset)) continue;
    selection[kind] = Number(button.dataset[kind]);
    pressLook(kind);
    kind === "layout" ? showLayout() : showColoring();
  }
}

function pressLook(kind) {
  for (const button of element.querySelectorAll(`[data-${kind}]`))
    button.setAttribute("aria-pressed", Number(button.dataset[kind]) === selection[kind]);
}

function choose(point) {
  chosen = point.dataset.id;
  showChosen();
  reveal(...at(point));
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
  drawn = Number(one("svg").dataset.height);
  whole.width = seen().width;
  marked("map-point").forEach((point, i) => {
    point.id = `${element.id || "map"}-point-${i}`;
    points.set(point.dataset.id, point);
  });
  looks = JSON.parse(one(".map").dataset.looks);
  selection = { layout: 0, coloring: 0 };
  spread();
  // The player stops when its point is gone.
  if (!points.has(playing)) {
    playing = null;
    player().pause();
  }
  showTip(null);
  showChosen();
  showMarker();
  sizes.disconnect();
  sizes.observe(one("svg"));
}

const sizes = new ResizeObserver(() => showLabels());

// Dragging moves the map that is zoomed; two fingers zoom it.
const fingers = new Map(); // pointer → where it is on the screen
let dragged = 0; // px since the first finger came down

element.addEventListener("pointerdown", (event) => {
  if (choosing() || !event.target.closest(".map-plane") || event.button) return;
  if (!fingers.size) dragged = 0;
  fingers.set(event.pointerId, [event.clientX, event.clientY]);
});
element.addEventListener("pointermove", (event) => {
  const before = fingers.get(event.pointerId);
  if (!before || choosing()) return;
  const now = [event.clientX, event.clientY];
  const scale = seen().width / one("svg").getBoundingClientRect().width;
  const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
  if (fingers.size === 2) {
    const [other] = [...fingers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    const apart = (place) => Math.max(20, Math.hypot(place[0] - other[0], place[1] - other[1]));
    const box = one("svg").getBoundingClientRect();
    const middle = [(now[0] + other[0]) / 2 - box.left, (now[1] + other[1]) / 2 - box.top];
    zoomAt(seen().x + middle[0] * scale, seen().y + middle[1] * scale, apart(now) / apart(before));
    dragged = 99;
  } else if (view.zoom > 1) {
    dragged += Math.hypot(dx, dy);
    if (dragged > 4) {
      one(".map-plane").setPointerCapture(event.pointerId);
      look(view.x - dx * scale, view.y - dy * scale, view.zoom);
    }
  }
  fingers.set(event.pointerId, now);
});
for (const end of ["pointerup", "pointercancel"])
  element.addEventListener(end, (event) => fingers.delete(event.pointerId));
// The wheel, and a pinch on a touchpad, which is one with ctrl, zoom. Where the map is whole, or as
// large as it can be, the wheel moves the page.
element.addEventListener(
  "wheel",
  (event) => {
    if (!event.target.closest(".map-plane")) return;
    const pinched = event.ctrlKey || event.metaKey;
    const pixels = event.deltaY * (event.deltaMode ? 30 : 1);
    if (!pinched && view.zoom === (pixels < 0 ? MAX_ZOOM : 1)) return;
    event.preventDefault();
    const { x, y } = placeOf(event);
    zoomAt(x, y, Math.exp(-pixels / (pinched ? 200 : 400)));
  },
  { passive: false },
);
element.addEventListener("dblclick", (event) => {
  if (choosing() || !event.target.closest(".map-plane") || nearest(event)) return;
  const { x, y } = placeOf(event);
  zoomAt(x, y, ZOOM_STEP);
});

element.addEventListener("pointermove", (event) => {
  if (event.pointerType !== "mouse" || !event.target.closest(".map-plane")) return;
  showTip(choosing() ? null : nearest(event));
});
element.addEventListener("pointerout", () => showTip(null));
element.addEventListener("click", (event) => {
  if (event.target.closest(".map-chosen button")) return trigger("submit", { id: chosen });
  if (event.target.closest(".map-chosen") && chosenPoint()) return play(chosenPoint());
  if (event.target.closest(".map-choose button")) return chooseArea(!choosing());
  const button = event.target.closest(".map-bar button");
  if (button) return button.dataset.zoom ? zoom(button.dataset.zoom) : changeLook(button);
  if (dragged > 4) return (dragged = 0);
  const point = event.target.closest(".map-plane") && !choosing() && nearest(event);
  if (!point) return;
  choose(point);
  play(point);
});
const ZOOM_KEYS = { "+": "in", "=": "in", "-": "out", "−": "out", 0: "all" };
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
  } else if (ZOOM_KEYS[event.key]) {
    event.preventDefault();
    zoom(ZOOM_KEYS[event.key]);
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
