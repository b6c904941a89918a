// An area of the Map: follows map.js, and shares its scope. Drawn around points by mouse or touch,
// or, from the keyboard, a circle around the chosen point.
const STEP = 1.25; // of the circle's radius
const MAX_RADIUS = 1300; // radius: more than from corner to corner of the picture
const GAP = 6; // units of the picture between two corners
let corners = []; // of the area, each [x, y] in units of the picture
let radius = 90;
let drawing = false;

const choosing = () => !!one(".map-choosing");
const ids = () => [...points.values()].filter((p) => inside(p.place)).map((p) => p.dataset.id);

// Whether a ray from the place to the right crosses the outline an odd number of times.
function inside([x, y]) {
  let within = false;
  for (let i = 0; i < corners.length; i++) {
    const [[ax, ay], [bx, by]] = [corners[i], corners.at(i - 1)];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) within = !within;
  }
  return within;
}

function showArea() {
  one(".map-area")?.setAttribute("d", corners.length ? `M${corners.join("L")}Z` : "");
  const status = one(".map-choose span");
  if (!status) return;
  const count = ids().length;
  status.textContent = !choosing()
    ? ""
    : corners.length
      ? `${count} point${count === 1 ? "" : "s"} in this area`
      : status.dataset.hint;
}

function chooseArea(on) {
  one(".map").classList.toggle("map-choosing", on);
  one(".map-choose button")?.setAttribute("aria-pressed", on);
  corners = [];
  drawing = false;
  showArea();
  if (on) one(".map-plane").focus();
}

function take() {
  const held = ids();
  chooseArea(false);
  if (held.length) trigger("edit", { ids: held });
}

function showCircle() {
  const [x, y] = chosenPoint().place;
  corners = Array.from({ length: 48 }, (_, i) => (i * Math.PI) / 24).map((turn) => [
    Math.round(x + radius * Math.cos(turn)),
    Math.round(y + radius * Math.sin(turn)),
  ]);
  showArea();
}

// Whether the key belongs to the area that is being chosen.
function circleKey(key) {
  if (!chosenPoint()) return false;
  const grown = { "+": STEP, "=": STEP, "-": 1 / STEP, "−": 1 / STEP }[key];
  if (grown) {
    radius = Math.max(20, Math.min(MAX_RADIUS, radius * grown));
    showCircle();
  } else if (key === "Enter" && corners.length) take();
  else return false;
  return true;
}

element.addEventListener("pointerdown", (event) => {
  if (!choosing() || !event.target.closest(".map-plane") || event.button) return;
  event.preventDefault();
  one(".map-plane").setPointerCapture(event.pointerId);
  const { x, y } = placeOf(event);
  [corners, drawing] = [[[Math.round(x), Math.round(y)]], true];
});
element.addEventListener("pointermove", (event) => {
  if (!drawing) return;
  const { x, y } = placeOf(event);
  const [lastX, lastY] = corners.at(-1);
  if (Math.hypot(x - lastX, y - lastY) < GAP) return;
  corners.push([Math.round(x), Math.round(y)]);
  showArea();
});
for (const end of ["pointerup", "pointercancel"])
  element.addEventListener(end, () => {
    // Later, for the click that ends a drawing means no point.
    if (drawing) setTimeout(take);
    drawing = false;
  });
