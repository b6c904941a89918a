// The capture coach: a sentence to say, hints about what the camera sees, and a countdown. The camera
// is a gr.Video elsewhere on the page: its parts come and go, so they are looked up when needed.
const one = (selector) => element.querySelector(selector);
const { slots, camera, seconds } = one(".coach").dataset;
const words = JSON.parse(slots);
const room = () => document.getElementById(camera);
const picture = () => room()?.querySelector("video[data-testid=webcam-video]:not(.hide)");
const button = () => room()?.querySelector(".capture-button");

const COUNT = 3; // s before it records
const MIN_LIGHT = 0.3; // of full light, of what is bright in the face
const MAX_BACKLIGHT = 1.6; // times as light as the face is what surrounds it, against the light
const MIN_FACE = 0.2; // of the picture's width

const canvas = new OffscreenCanvas(64, 48);
const brush = canvas.getContext("2d", { willReadFrequently: true });
let detector = "FaceDetector" in window ? new FaceDetector({ fastMode: true }) : null;
let state = "idle"; // then "counting", then "recording"
let left = 0; // s of it
let timer = 0;
let recorded = false; // the sentence that is shown

function draw() {
  const pick = (slot) => slot[Math.floor(Math.random() * slot.length)];
  one(".coach-sentence").textContent = words.map(pick).join(" ");
  recorded = false;
}

function hint(text) {
  if (one(".coach-hint").textContent !== text) one(".coach-hint").textContent = text;
}

// What is in the middle, where the outline is, and what is around it: 0 to 1.
function light(video) {
  brush.drawImage(video, 0, 0, canvas.width, canvas.height);
  const { data } = brush.getImageData(0, 0, canvas.width, canvas.height);
  const [face, around] = [[], []];
  for (let i = 0; i < data.length / 4; i++) {
    const x = (i % canvas.width) / canvas.width - 0.5;
    const y = Math.floor(i / canvas.width) / canvas.height - 0.5;
    const grey = (0.3 * data[4 * i] + 0.59 * data[4 * i + 1] + 0.11 * data[4 * i + 2]) / 255;
    ((x / 0.2) ** 2 + (y / 0.36) ** 2 < 1 ? face : around).push(grey);
  }
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const bright = face.sort((a, b) => a - b)[Math.floor(0.95 * face.length)];
  return { bright, face: mean(face), around: mean(around) };
}

async function faces(video) {
  try {
    return await detector?.detect(video);
  } catch {
    detector = null; // a browser that knows the name but cannot do it
  }
}

async function track_face() {
  const video = picture();
  if (!video?.videoWidth) return one(".coach-hint").dataset.start;
  const { bright, face, around } = light(video);
  if (bright < MIN_LIGHT) return "More light: turn towards a lamp or a window.";
  if (around > MAX_BACKLIGHT * face) return "The light is behind you: turn around.";
  const detections = await faces(video);
  if (detections?.length === 0) return "No face is seen: look into the camera.";
  if (detections?.length > 1) return "Let only one person be seen.";
  if (detections?.[0].boundingBox.width < MIN_FACE * video.videoWidth) return "Come closer.";
  if (detections) return "That is good. Press record.";
  return "Fill the outline with your face, look into the camera, and press record.";
}

async function watchCamera() {
  if (!element.isConnected) return clearInterval(watching);
  if (recorded && picture()) draw();
  if (state !== "idle") return;
  const text = await track_face();
  if (state === "idle") hint(text);
}

function show() {
  const counting = state === "counting";
  room()?.style.setProperty("--count", counting ? `"${left}"` : '""');
  if (counting) hint(`Get ready: ${left}`);
  if (state === "recording") hint(`Speak now. It stops by itself, in ${left} s.`);
}

function rest() {
  clearInterval(timer);
  recorded ||= state === "recording";
  state = "idle";
  show();
}

function begin() {
  one(".coach").dataset.asked = one(".coach-sentence").textContent;
  button().click();
  state = "recording";
  left = Number(seconds);
}

function step() {
  if (!button()) return rest();
  left -= 1;
  if (left <= 0 && state === "recording") {
    button().click();
    return rest();
  }
  if (left <= 0) begin();
  show();
}

// Before Gradio hears of it: the countdown comes first.
const press = (event) => {
  if (!element.isConnected) return window.removeEventListener("click", press, true);
  const pressed = event.target.closest?.(".capture-button");
  if (!event.isTrusted || !pressed || pressed !== button()) return;
  if (state === "recording") return rest();
  event.stopImmediatePropagation();
  event.preventDefault();
  if (state === "counting") {
    if (left === COUNT) return; // the second click of a double click
    begin(); // the visitor does not want to wait
    return show();
  }
  state = "counting";
  left = COUNT;
  timer = setInterval(step, 1000);
  show();
};
window.addEventListener("click", press, true);
element.addEventListener("click", (event) => event.target.closest(".coach-other") && draw());
const watching = setInterval(watchCamera, 500);
draw();
