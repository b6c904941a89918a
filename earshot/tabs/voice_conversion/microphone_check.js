// The level of the microphone while it is checked, and the room's noise: the level that a tenth of
// the last seconds stay under. It closes by itself, and when a recording begins.
const one = (selector) => element.querySelector(selector);
const MAX_SECONDS = 15; // seconds
const EVERY = 50; // ms between two levels
const NOISE_LEVELS = 60; // levels from which the noise is judged
const FLOOR = -72; // dBFS, at the left end
const MAX_NOISE = -38; // dBFS of noise, above which words are lost
const CLIPPED = -1; // dBFS
const WORDS = {
  loud: "The room is loud. Hold the microphone closer, or find a quieter place.",
  clipped: "Too loud: speak a little further from the microphone.",
  low: "Speak: your voice should pass the line by far.",
  good: "Good: your voice stands well above the room.",
};
const BLOCKED = "The microphone is blocked. Allow it next to the page’s address, and try again.";
const REFUSED = {
  NotFoundError: "There is no microphone. Plug one in, and try again.",
  NotReadableError: "Another program holds the microphone. Close it, and try again.",
  TypeError: "A browser opens the microphone on secure pages only: https, or this computer’s own.",
};

let open = null; // context, stream, timer and levels while it is open

const share = (level) => Math.max(0, Math.min(1, 1 - level / FLOOR));
const percentile = (levels, part) => [...levels].sort((a, b) => a - b)[Math.floor(part * (levels.length - 1))];

function level() {
  open.analyser.getFloatTimeDomainData(open.samples);
  const power = open.samples.reduce((sum, sample) => sum + sample * sample, 0) / open.samples.length;
  return 10 * Math.log10(power + 1e-9);
}

function measure() {
  if (performance.now() > open.until) return close();
  const now = level();
  open.levels = [...open.levels, now].slice(-NOISE_LEVELS);
  const noise = percentile(open.levels, 0.1);
  const peak = Math.max(...open.samples.map(Math.abs));
  const speech = percentile(open.levels, 0.9);
  one(".mic-level i").style.transform = `scaleX(${share(now).toFixed(3)})`;
  one(".mic-level b").style.left = `${(100 * share(noise)).toFixed(1)}%`;
  one(".mic-level").setAttribute("aria-valuenow", Math.round(now));
  if (open.levels.length < NOISE_LEVELS / 4) return;
  const text = `Noise ${Math.round(noise)} dBFS`;
  if (one(".mic small").textContent !== text) one(".mic small").textContent = text;
  const kind = 20 * Math.log10(peak + 1e-9) > CLIPPED ? "clipped"
    : noise > MAX_NOISE ? "loud" : speech < noise + 15 ? "low" : "good";
  if (open.kind === kind) return;
  open.kind = kind;
  one(".mic span").textContent = WORDS[kind];
}

async function start() {
  one(".mic-switch").disabled = true;
  one(".mic span").textContent = "Say a few words.";
  one(".mic small").textContent = "";
  one(".mic-now").hidden = false;
  try {
    const stream = await navigator.mediaDevices.getUserMedia({
      audio: { echoCancellation: false, noiseSuppression: false, autoGainControl: false },
    });
    const context = new AudioContext();
    const analyser = context.createAnalyser();
    analyser.fftSize = 2048;
    context.createMediaStreamSource(stream).connect(analyser);
    const samples = new Float32Array(analyser.fftSize);
    open = { stream, context, analyser, samples, levels: [], until: performance.now() + 1000 * MAX_SECONDS };
    open.timer = setInterval(measure, EVERY);
    one(".mic-switch").textContent = "Close the microphone";
  } catch (error) {
    one(".mic span").textContent = REFUSED[error.name] ?? BLOCKED;
  }
  one(".mic-switch").disabled = false;
}

function close() {
  clearInterval(open.timer);
  for (const track of open.stream.getTracks()) track.stop();
  open.context.close();
  open = null;
  one(".mic-level i").style.transform = "scaleX(0)";
  one(".mic-switch").textContent = "Check the microphone";
}

element.addEventListener("click", ({ target }) => {
  if (target.closest(".mic-switch")) open ? close() : start();
});
document.addEventListener("click", ({ target }) => {
  if (open && target.closest(".record-button, .live-switch")) close();
}, true);
window.addEventListener("pagehide", () => open && close());
