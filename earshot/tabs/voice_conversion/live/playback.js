// AudioWorklet: plays what the worker sends, from a queue that is as short as the network allows.
// The reserve is what is still in the queue when it is at its lowest, just before a chunk comes.
// It grows when the queue runs dry and shrinks again; what lies in the queue beyond it is left out
// in silence, or, if there is none for a while, under a cross-fade.
const MIN_RESERVE = 0.02; // s of reserve
const MAX_RESERVE = 0.12;
const FIRST = 0.04;
const STEP = 0.01; // s that the reserve shrinks by
const CALM = 10; // s without running dry, after which it does
const WINDOW = 1; // s over which the lowest level is looked for
const PATIENCE = 2; // s to wait for silence
const FADE = 0.01; // s
const SILENT = 0.005;
const REPORT = 0.25; // s

class Playback extends AudioWorkletProcessor {
  constructor() {
    super();
    this.ring = new Float32Array(2 ** Math.ceil(Math.log2(4 * sampleRate)));
    this.read = this.written = 0; // samples, ever
    this.end = 0; // when the last sample in the queue was recorded, in frames
    this.chunk = 0; // samples of the longest chunk that came lately
    this.reserve = FIRST;
    this.playing = false;
    this.started = false; // whether anything was played yet
    this.gain = 0;
    this.lowest = Infinity;
    this.surplus = 0; // samples to leave out
    this.since = { window: 0, surplus: 0, dry: 0, report: 0 }; // frames
    this.dropouts = this.skipped = 0;
    this.port.onmessage = ({ data }) => {
      this.worker = data.worker;
      this.worker.onmessage = (event) => this.take(event.data);
    };
  }

  get queued() {
    return this.written - this.read;
  }

  at(index) {
    return index & (this.ring.length - 1);
  }

  take({ samples, end, flush }) {
    if (flush) {
      this.started = this.playing = false;
      this.read = this.written;
      return;
    }
    const room = this.ring.length - this.queued;
    if (samples.length > room) this.read += samples.length - room;
    for (const sample of samples) this.ring[this.at(this.written++)] = sample;
    this.end = end;
    this.chunk = Math.max(samples.length, 0.9 * this.chunk);
  }

  process(_, [[out]]) {
    const { since } = this;
    for (const name of Object.keys(since)) since[name] += out.length;
    this.lowest = Math.min(this.lowest, this.queued);
    if (!this.playing && this.queued >= this.chunk + this.reserve * sampleRate && this.queued) {
      this.playing = this.started = true;
      this.lowest = Infinity;
      since.window = 0;
      this.surplus = 0;
    }
    if (this.playing && this.queued < out.length) this.runDry();
    if (this.playing) this.trim();
    this.write(out);
    if (since.report > REPORT * sampleRate) this.report();
    return true;
  }

  runDry() {
    this.playing = false;
    this.dropouts += 1;
    this.reserve = Math.min(MAX_RESERVE, 1.5 * this.reserve);
    this.since.dry = 0;
  }

  // After each window: how much more than the reserve was there all the time?
  trim() {
    const { since } = this;
    if (since.dry > CALM * sampleRate) {
      this.reserve = Math.max(MIN_RESERVE, this.reserve - STEP);
      since.dry = 0;
    }
    if (since.window > WINDOW * sampleRate) {
      const surplus = Math.floor(this.lowest - this.reserve * sampleRate);
      if (!this.surplus) since.surplus = 0;
      this.surplus = surplus > STEP * sampleRate ? surplus : 0;
      this.lowest = Infinity;
      since.window = 0;
    }
    if (!this.surplus || this.surplus + FADE * sampleRate > this.queued) return;
    if (this.isSilent(this.surplus) || since.surplus > PATIENCE * sampleRate) this.skip();
  }

  isSilent(count) {
    for (let i = 0; i < count; i++) {
      if (Math.abs(this.ring[this.at(this.read + i)]) > SILENT) return false;
    }
    return true;
  }

  skip() {
    const fade = Math.round(FADE * sampleRate);
    for (let i = 0; i < fade; i++) {
      const before = this.ring[this.at(this.read + i)];
      const place = this.at(this.read + this.surplus + i);
      this.ring[place] += (before - this.ring[place]) * (1 - i / fade);
    }
    this.read += this.surplus;
    this.skipped += this.surplus;
    this.surplus = 0;
    this.lowest = Infinity;
    this.since.window = 0;
  }

  // What begins or ends does so within a few milliseconds.
  write(out) {
    const slope = 1 / (0.005 * sampleRate);
    for (let i = 0; i < out.length; i++) {
      this.gain = Math.max(0, Math.min(1, this.gain + (this.playing ? slope : -slope)));
      const more = this.queued > 0 && (this.playing || this.gain > 0);
      out[i] = more ? this.gain * this.ring[this.at(this.read++)] : 0;
    }
  }

  report() {
    this.since.report = 0;
    if (!this.started) return;
    const { dropouts, reserve, playing } = this;
    const delay = (currentFrame - (this.end - this.queued)) / sampleRate;
    const skipped = this.skipped / sampleRate;
    this.worker.postMessage({ delay, dropouts, reserve, skipped, playing });
  }
}

registerProcessor("live-playback", Playback);
