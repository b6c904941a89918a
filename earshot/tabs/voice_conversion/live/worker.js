// Between the two worklets and the server: sound passes here, and never through the main thread.
const REPORT = 50; // ms between two reports of the level to the page
const MAX_RECORDING = 30; // s of both sounds
const MAX_BACKLOG = 0.2; // s of sound that may wait to be sent
const RETRY_AFTER = 500; // ms between two tries to come back
const MAX_TRIES = 20;

let socket = null;
let settings = {}; // url, rate, wish
let state = "off"; // then "connecting", "waiting", "loading", "running"
let tries = 0;
let playback = null;
let lastReport = 0; // when the level was
let peak = 0;
const output = ring();
const input = ring();

function ring() {
  return { samples: new Int16Array(0), count: 0 };
}

function remember(sound, samples) {
  const { length } = sound.samples;
  for (const sample of samples) sound.samples[sound.count++ % length] = sample;
}

// The last seconds, in their order.
function last({ samples, count }) {
  if (count <= samples.length) return samples.slice(0, count);
  const at = count % samples.length;
  const whole = new Int16Array(samples.length);
  whole.set(samples.subarray(at));
  whole.set(samples.subarray(0, at), samples.length - at);
  return whole;
}

function wav(samples, rate) {
  const head = new DataView(new ArrayBuffer(44));
  const text = (at, letters) => [...letters].forEach((c, i) => head.setUint8(at + i, c.charCodeAt(0)));
  text(0, "RIFF");
  head.setUint32(4, 36 + 2 * samples.length, true);
  text(8, "WAVEfmt ");
  head.setUint32(16, 16, true);
  head.setUint16(20, 1, true);
  head.setUint16(22, 1, true);
  head.setUint32(24, rate, true);
  head.setUint32(28, 2 * rate, true);
  head.setUint16(32, 2, true);
  head.setUint16(34, 16, true);
  text(36, "data");
  head.setUint32(40, 2 * samples.length, true);
  return new Blob([head, samples], { type: "audio/wav" });
}

function connect() {
  state = "connecting";
  socket = new WebSocket(settings.url);
  socket.binaryType = "arraybuffer";
  socket.onopen = () => socket.send(JSON.stringify({ rate: settings.rate, ...settings.wish }));
  socket.onmessage = ({ data }) => (typeof data === "string" ? hear(JSON.parse(data)) : play(data));
  socket.onclose = closed;
}

function hear(message) {
  state = message.state;
  if (state === "running") {
    tries = 0;
    playback.postMessage({ flush: true });
  }
  postMessage(message);
}

// The connection is gone without a word: the network was lost, and may come back.
function closed() {
  if (state === "off" || state === "ended") return;
  tries += 1;
  if (tries > MAX_TRIES) {
    state = "ended";
    return postMessage({ state, message: "The connection is lost. Press Live to try again." });
  }
  state = "connecting";
  postMessage({ state: "lost" });
  setTimeout(() => state === "connecting" && connect(), RETRY_AFTER);
}

function play(data) {
  const length = new DataView(data).getUint32(0, true);
  const about = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
  const sound = new Int16Array(data, 4 + length);
  remember(output, sound);
  const samples = Float32Array.from(sound, (sample) => sample / 32768);
  playback.postMessage({ samples, end: about.end }, [samples.buffer]);
  const { units, ms, dropped, economy } = about;
  postMessage({ units, ms, dropped, economy });
}

function send({ samples, position, peak: loudest }) {
  peak = Math.max(peak, loudest);
  if (performance.now() - lastReport > REPORT) {
    postMessage({ level: peak });
    lastReport = performance.now();
    peak = 0;
  }
  if (state !== "running" || socket.readyState !== WebSocket.OPEN) return;
  if (socket.bufferedAmount > 2 * MAX_BACKLOG * settings.rate) return;
  remember(input, samples);
  const message = new ArrayBuffer(4 + 2 * samples.length);
  new DataView(message).setUint32(0, position, true);
  new Int16Array(message, 4).set(samples);
  socket.send(message);
}

onmessage = ({ data }) => {
  if (data.start) {
    settings = data.start;
    tries = 0;
    for (const sound of [output, input]) {
      sound.samples = new Int16Array(MAX_RECORDING * settings.rate);
      sound.count = 0;
    }
    playback = data.playback;
    playback.onmessage = (event) => postMessage(event.data);
    data.capture.onmessage = (event) => send(event.data);
    connect();
  } else if (data.wish) {
    settings.wish = data.wish;
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(data.wish));
  } else if (data.stop) {
    state = "off";
    socket?.close();
  } else if (data.keep) {
    postMessage({ recordings: { output: wav(last(output), settings.rate), input: wav(last(input), settings.rate) } });
  }
};
