// The Live switch: it opens the microphone and the two worklets, ties them to the worker, and shows
// what the worker tells. No sound passes through here.
const one = (selector) => element.querySelector(selector);
const place = (name) => new URL(name, document.baseURI);
const CELL = 4; // px of a unit
const REFUSED = {
  NotAllowedError: "The microphone is blocked. Allow it next to the page's address, and press Live.",
  NotFoundError: "There is no microphone. Plug one in, and press Live.",
  NotReadableError: "Another program holds the microphone. Close it, and press Live.",
};
const INSECURE = "A browser opens the microphone on secure pages only: https, or this computer's own.";

const OUTPUT = "earshot-live-output"; // where the chosen device is remembered
const NO_OUTPUT = "This output cannot be used: the computer's own plays instead.";
const AWAY = "The server does not answer. Reload the page.";
const PATIENCE = 10000; // ms for its answer
const QUESTION = "The browser asks whether this page may hear the microphone. Allow it, to begin.";
const QUICK = 1000; // ms in which it opens where it is allowed
const SLOW = "The server does not answer yet. Live begins when it does.";

let live = null; // context, stream, source, capture, worker while it is on
let answer = null; // takes what is chosen on the page, while that is asked
let units = []; // by their colours, null for silence
let numbers = {};
let until = 0; // ms
let lastLine = ""; // the line of numbers
let waiting = false; // for the next frame, to show what the worker reports
let urls = [];

function say(text, kind = "notice") {
  const message = one(".live-message");
  message.textContent = text;
  message.className = `live-message message ${kind}`;
  message.setAttribute("role", kind === "error" ? "alert" : "status");
  message.hidden = !text;
}

async function microphone() {
  if (!navigator.mediaDevices) throw new Error(INSECURE);
  const clean = one(".live-clean input").checked;
  const audio = { echoCancellation: clean, noiseSuppression: clean, autoGainControl: clean };
  const stream = await navigator.mediaDevices.getUserMedia({ audio });
  stream.getAudioTracks()[0].onended = unplugged;
  return stream;
}

// The devices that can play, a virtual cable into a call among them: browsers name them once the
// microphone is allowed. Where there is one only, or the browser cannot choose, nothing is shown.
async function listOutputs() {
  if (!("setSinkId" in AudioContext.prototype)) return;
  const devices = await navigator.mediaDevices.enumerateDevices();
  const outputs = devices.filter(({ kind, label }) => kind === "audiooutput" && label);
  const select = one(".live-output select");
  const before = localStorage.getItem(OUTPUT) ?? "default";
  select.replaceChildren(...outputs.map(({ label, deviceId }) => new Option(label, deviceId)));
  select.value = outputs.some(({ deviceId }) => deviceId === before) ? before : "default";
  one(".live-output").hidden = outputs.length < 2;
}

async function playThrough() {
  const device = one(".live-output select").value;
  if (one(".live-output").hidden || !live?.context) return;
  try {
    await live.context.setSinkId(device === "default" ? "" : device);
    localStorage.setItem(OUTPUT, device);
  } catch {
    say(NO_OUTPUT);
  }
}

// What is chosen elsewhere on the page, as the server puts it.
function chosen() {
  return new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error(AWAY)), PATIENCE);
    answer = ({ wish, note, error }) => {
      say(note ?? "");
      error ? reject(new Error(error)) : resolve(wish);
    };
    trigger("ask", {});
  });
}

async function start() {
  say("");
  one(".live-switch").disabled = true;
  try {
    const wish = await chosen();
    const question = setTimeout(() => say(QUESTION), QUICK);
    const stream = await microphone().finally(() => clearTimeout(question));
    if (one(".live-message").textContent === QUESTION) say("");
    const context = new AudioContext({ latencyHint: "interactive" });
    live = { stream, context };
    await listOutputs();
    await playThrough();
    for (const name of ["capture", "playback"]) {
      await context.audioWorklet.addModule(place(`live/${name}.js`));
    }
    for (const player of document.querySelectorAll("audio, video")) player.pause();
    const worker = new Worker(place("live/worker.js"));
    const capture = new AudioWorkletNode(context, "live-capture");
    const playback = new AudioWorkletNode(context, "live-playback", {
      numberOfInputs: 0,
      outputChannelCount: [1],
    });
    const [input, output] = [new MessageChannel(), new MessageChannel()];
    capture.port.postMessage({ worker: input.port1 }, [input.port1]);
    playback.port.postMessage({ worker: output.port1 }, [output.port1]);
    const url = place("live").href.replace(/^http/, "ws");
    const ports = { capture: input.port2, playback: output.port2 };
    worker.onmessage = ({ data }) => hear(data);
    worker.postMessage({ start: { url, rate: context.sampleRate, wish }, ...ports }, Object.values(ports));
    live = { ...live, worker, capture, source: context.createMediaStreamSource(stream) };
    live.source.connect(capture).connect(context.destination); // it is silent; else nothing pulls it
    playback.connect(context.destination);
    await context.resume();
    units = [];
    numbers = {};
    one(".live-kept").hidden = true;
    show("connecting");
    setTimeout(() => one(".live").dataset.state === "connecting" && say(SLOW), PATIENCE);
  } catch (error) {
    stop();
    say(REFUSED[error.name] ?? error.message, "error");
  }
  one(".live-switch").disabled = false;
}

function stop() {
  live?.worker?.postMessage({ stop: true });
  for (const track of live?.stream.getTracks() ?? []) track.stop();
  live?.context?.close();
  if (units.length) keep(live.worker);
  else live?.worker?.terminate();
  live = null;
  show("off");
}

// Another microphone may take over; else it is over.
async function unplugged() {
  if (!live) return;
  try {
    const stream = await microphone();
    live.source.disconnect();
    live.source = live.context.createMediaStreamSource(stream);
    live.source.connect(live.capture);
    live.stream = stream;
    say("The microphone was unplugged: another one is used now.");
  } catch {
    stop();
    say("The microphone was unplugged. Plug it in, and press Live.", "error");
  }
}

// The last 30 s, which only this page has. The worker ends when it has given them.
function keep(worker) {
  worker.onmessage = ({ data }) => {
    if (!data.recordings) return;
    worker.terminate();
    for (const url of urls) URL.revokeObjectURL(url);
    urls = ["output", "input"].map((name) => URL.createObjectURL(data.recordings[name]));
    one(".live-said").href = urls[0];
    one(".live-take").recording = data.recordings.input;
    one(".live-kept audio").src = urls[0];
    one(".live-kept").hidden = false;
    sign(data.recordings.output);
  };
  worker.postMessage({ keep: true });
}

// Signed by the server, which gets it for a moment; where that fails, or it is too short to carry
// a mark (204), the page's own copy stays.
async function sign(recording) {
  const request = { method: "POST", body: recording };
  const answer = await fetch(new URL("live/sign", document.baseURI), request).catch(() => null);
  if (answer?.status !== 200) return;
  urls.push(URL.createObjectURL(await answer.blob()));
  one(".live-said").href = urls.at(-1);
}

async function take(button) {
  button.disabled = true;
  try {
    const file = await upload(new File([button.recording], "live.wav", { type: "audio/wav" }));
    trigger("keep", { path: file.path });
  } catch {
    say("The recording could not be sent. Please try again.", "error");
  }
  button.disabled = false;
}

function hear(data) {
  if (data.state) return turn(data);
  const { units: more = [], ...others } = data;
  units = [...units, ...more].slice(-1000);
  numbers = { ...numbers, ...others };
  if (!waiting) requestAnimationFrame(refresh);
  waiting = true;
}

// At most once a frame. Nothing here asks the page to be laid out, but for a text that has changed.
function refresh() {
  waiting = false;
  const level = 20 * Math.log10((numbers.level ?? 0) + 1e-6); // dBFS, shown from -60 up
  const share = Math.max(0, 1 + level / 60);
  one(".live-level i").style.transform = `scaleX(${share.toFixed(2)})`;
  draw();
  line();
}

function turn({ state, message, place, seconds }) {
  if (state === "ended") {
    stop();
    return say(message);
  }
  if (state === "waiting") say(`You are number ${place} in line: at most ${seconds} s.`);
  else if (state === "loading") say("The model is loading. This takes some seconds, once.");
  else if (state === "lost") say("The connection is lost. Trying again …");
  else say("");
  if (state === "running") until = performance.now() + 1000 * seconds;
  show(state);
}

function line() {
  const left = Math.max(0, Math.round((until - performance.now()) / 1000));
  const time = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  const lost = numbers.dropouts === 1 ? "1 dropout" : `${numbers.dropouts ?? 0} dropouts`;
  const delay = numbers.delay === undefined ? "" : `<b>${Math.round(1000 * numbers.delay)}</b> ms delay · `;
  const late = numbers.dropped / (live?.context.sampleRate ?? 1);
  const less = numbers.economy ? " · later than it could be: the server is busy" : "";
  const busy = late > 0.1 ? ` · ${late.toFixed(1)} s left out: the server is busy` : less;
  const text = `${delay}${lost} · ${time} left${busy}`;
  if (text !== lastLine) one(".live-line").innerHTML = lastLine = text;
}

function show(state) {
  const on = state !== "off";
  one(".live").dataset.state = state;
  one(".live-switch span").textContent = on ? "Stop" : "Live";
  one(".live-now").hidden = !on;
  one(".live-clean input").disabled = on;
  if (on) line();
}

function draw() {
  const canvas = one(".live-units");
  const scale = devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  const size = [Math.round(width * scale), Math.round(height * scale)];
  // Another size lays the whole page out anew.
  if (size.some((length, i) => length !== [canvas.width, canvas.height][i])) {
    [canvas.width, canvas.height] = size;
  }
  const brush = canvas.getContext("2d");
  brush.setTransform(scale, 0, 0, scale, 0, 0);
  brush.clearRect(0, 0, width, height);
  const seen = units.slice(-Math.ceil(width / CELL));
  seen.forEach((color, i) => {
    if (!color) return;
    brush.fillStyle = color;
    brush.fillRect(width - (seen.length - i) * CELL, 0, CELL - 0.5, height);
  });
}

one(".live-output select").addEventListener("change", playThrough);
navigator.mediaDevices?.addEventListener("devicechange", () => live && listOutputs().then(playThrough));
element.addEventListener("click", ({ target }) => {
  if (target.closest(".live-switch")) return live ? stop() : start();
  if (target.closest(".live-take")) take(target.closest(".live-take"));
});
// Something that Live goes by was changed elsewhere on the page.
element.addEventListener("changed", async () => {
  if (!live?.worker) return;
  try {
    const wish = await chosen();
    live?.worker?.postMessage({ wish });
  } catch (error) {
    say(`${error.message} Live goes on as before.`, "error");
  }
});
element.addEventListener("wish", ({ detail }) => answer?.(detail));
const escape = (event) => {
  if (!element.isConnected) return window.removeEventListener("keydown", escape);
  if (event.key === "Escape" && live) stop();
};
window.addEventListener("keydown", escape);
window.addEventListener("pagehide", () => live && stop());
