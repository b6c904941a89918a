// Sounds by Web Audio: decoded once, started together, switched by their gains. Nothing changes
// them but the volume that the rater chose, and the level that they set where that is asked; only the
// edges of a part are faded.

import { Device } from "./device.js";
import { wait } from "./dom.js";

const PATIENCE = [500, 2000]; // ms between three tries to get a sound
const FADE = 0.005; // s, of a switch and of a part's edges: no click, and no fade that one hears
const MAX_STANDSTILL = 1000; // ms that the clock may stand while something should sound
const MAX_FRAME = 250; // ms that count of a frame: none are drawn while the page is hidden
const MAX_MISSING = 0.1; // s that may lack at an end: an interrupted sound may end sooner
const SOON = 0.02; // s from now, so that all sounds of a deck start at the same sample
const PICTURE = /\/picture\/\d+\/\d+\?/; // an address of one
const MIN_HEARD = 1; // s that each of the sounds to switch between must sound, at least

export class Player {
  constructor(volume) {
    // An iPhone's ring switch would mute Web Audio otherwise.
    if (navigator.audioSession) navigator.audioSession.type = "playback";
    this.sounds = new Map(); // address → promise of its AudioBuffer, or a picture's Blob
    // A context keeps the rate of the output that it was opened for.
    this.device = new Device(() => { this.stale = true; });
    this.open(volume);
  }

  open(volume) {
    const context = new AudioContext({ latencyHint: "interactive" });
    context.onstatechange = () => {
      if (context === this.context && context.state !== "running") this.interrupt();
    };
    // What was decoded at a lower rate has lost what is above it.
    if (this.context && this.context.sampleRate !== context.sampleRate) this.sounds.clear();
    this.context = context;
    this.out = context.createGain();
    this.out.connect(context.destination);
    this.volume = volume;
    this.stale = false;
  }

  // A call, a sleep, or headphones that were pulled: the context's clock stands, or will never run
  // again. Whatever plays stops; the next press of a button gets a new context.
  interrupt() {
    this.stale = true;
    this.device.stall();
    this.onstop?.();
  }

  // To be called where somebody has pressed something, or no browser lets a context run.
  wake() {
    if (this.stale) {
      const { context, volume } = this;
      this.open(volume);
      context.close().catch(() => null);
    }
    this.context.resume();
  }

  get volume() { return this.out.gain.value; }
  set volume(value) { this.out.gain.value = value; }

  load(addresses) {
    return Promise.all(addresses.map((address) => {
      if (!this.sounds.has(address)) {
        const sound = this.fetch(address);
        sound.catch(() => this.sounds.delete(address));
        this.sounds.set(address, sound);
      }
      return this.sounds.get(address);
    }));
  }

  // The same, but tries again where one does not come → its place, or -1 where all are there.
  async missing(addresses) {
    for (const pause of [...PATIENCE, null]) {
      const loaded = await Promise.allSettled(addresses.map((address) => this.load([address])));
      const lost = loaded.findIndex(({ status }) => status === "rejected");
      if (lost < 0 || pause === null) return lost;
      await wait(pause);
    }
  }

  async fetch(address) {
    const response = await fetch(address);
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    if (PICTURE.test(address)) return response.blob();
    return this.context.decodeAudioData(await response.arrayBuffer());
  }

  // Forgets every sound but these: a test may be longer than a phone's memory.
  keep(addresses) {
    for (const address of this.sounds.keys()) {
      if (!addresses.includes(address)) this.sounds.delete(address);
    }
  }
}

// The sounds of one trial. together: all run at once and repeat, and one of them is audible;
// otherwise each plays alone, from its beginning to its end.
export class Deck {
  // brief: a second of each is enough, as where they are switched. screen: their pictures, if any,
  // which are ready before a sound begins, so that a repetition waits for them for a moment.
  constructor(player, buffers, together, onchange, brief = together, screen = null) {
    Object.assign(this, { player, buffers, together, onchange, brief, screen });
    this.interrupted = false; // since it was played last
    this.length = Math.max(...buffers.map((buffer) => buffer.duration));
    this.part = [0, this.length];
    this.active = -1; // the audible sound, or -1 in silence
    this.last = 0; // the sound that was audible last
    this.rest = 0; // s, where silence began
    this.running = [];
    this.plays = buffers.map(() => 0);
    this.seconds = buffers.map(() => 0); // audible so far
    this.whole = buffers.map(() => false); // played to the end
    this.gains = buffers.map(() => 1); // of each, where it is audible
  }

  get context() { return this.player.context; }

  get position() {
    if (this.active < 0) return this.rest;
    const passed = Math.max(0, this.context.currentTime - this.began);
    if (!this.together) return Math.min(passed, this.buffers[this.active].duration);
    const [from, to] = this.part;
    return from + (this.offset + passed) % (to - from);
  }

  // The place in the sounds that is audible at a time of the page's clock, in ms: what the context has
  // computed by then is still on its way to the ears.
  audible(at) {
    const { contextTime, performanceTime } = this.context.getOutputTimestamp?.() ?? {};
    const { currentTime, outputLatency } = this.context;
    const now = performance.now();
    const measured = contextTime > 0 && performanceTime > 0 && now - performanceTime < MAX_STANDSTILL;
    const then = measured ? contextTime + (at - performanceTime) / 1000
      : currentTime - (outputLatency || 0) + (at - now) / 1000;
    return (this.together ? this.part[0] : 0) + this.offset + then - this.began;
  }

  hasPlayed(i) {
    this.count();
    const enough = Math.min(MIN_HEARD, this.buffers[i].duration);
    return this.whole[i] || (this.brief && this.seconds[i] >= enough);
  }

  // Notices, frame by frame, where the clock stands though something should sound.
  watch(now) {
    this.player.device.look(this.context, this.active >= 0, now);
    const { currentTime } = this.context;
    const passed = Math.min(now - (this.frame ?? now), MAX_FRAME);
    const stands = this.active >= 0 && currentTime === this.clock;
    this.frozen = stands ? this.frozen + passed : 0;
    Object.assign(this, { frame: now, clock: currentTime });
    if (this.frozen > MAX_STANDSTILL) this.player.interrupt();
  }

  stop() {
    if (this.active < 0) return;
    this.rest = this.together ? this.position : 0;
    this.silence();
    this.interrupted = true;
    this.onchange();
  }

  // Adds what sounded since the last call to the audible sound, by the clock of its samples: one
  // that stands counts nothing, however long it takes.
  count() {
    if (this.active < 0) return;
    const now = this.context.currentTime;
    this.seconds[this.active] += Math.max(0, now - this.since);
    this.since = Math.max(now, this.since);
  }

  play(i) {
    this.plays[i] += 1;
    if (this.together && this.active >= 0) this.switch(i);
    else this.start(i, this.together ? this.position : 0);
    this.onchange();
  }

  // Makes a sound louder by so many dB.
  level(i, decibels) {
    this.gains[i] = 10 ** (decibels / 20);
    if (this.together && this.active === i && this.running.length) this.ramp(this.running[i].gain, this.gains[i]);
  }

  switch(i) {
    this.count();
    if (this.running.length) { // else it waits for its picture
      this.ramp(this.running[this.active].gain, 0);
      this.ramp(this.running[i].gain, this.gains[i]);
    }
    this.active = this.last = i;
    this.screen?.show(i);
  }

  start(i, position) {
    this.silence();
    this.player.wake();
    this.player.onstop = () => this.stop();
    this.interrupted = false;
    const [from, to] = this.part;
    this.offset = this.together ? Math.min(Math.max(0, position - from), to - from - FADE) : 0;
    this.began = this.since = Infinity;
    this.active = this.last = i;
    if (!this.screen) return this.sound();
    const turn = this.turn = {};
    const place = this.together ? from + this.offset : 0;
    this.screen.cue(i, place, this.together).then(() => this.turn === turn && this.sound());
  }

  // Sounds what was started, once its picture is ready.
  sound() {
    const i = this.active;
    const at = this.context.currentTime + SOON + (this.screen?.latency ?? 0);
    const sources = this.together ? this.buffers : [this.buffers[i]];
    this.running = sources.map((buffer, k) => {
      const source = new AudioBufferSourceNode(this.context, { buffer: this.cut(buffer) });
      const gain = this.context.createGain();
      gain.gain.value = !this.together || k === i ? this.gains[i] : 0;
      source.loop = this.together && !this.screen;
      source.connect(gain).connect(this.player.out);
      source.start(at, this.offset);
      return { source, gain };
    });
    this.began = this.since = at;
    const [{ source }] = this.running;
    if (!this.together) source.onended = () => this.ended(i);
    else if (this.screen) source.onended = () => this.start(this.active, this.part[0]);
    if (!this.screen) return;
    const now = performance.now();
    this.screen.roll(this, now + 1000 * (this.position - this.audible(now)));
  }

  ended(i) {
    const sounded = this.context.currentTime - this.began;
    if (sounded < this.buffers[i].duration - MAX_MISSING) return this.stop();
    this.whole[i] = true;
    this.silence();
    this.rest = this.buffers[i].duration;
    this.onchange();
  }

  // Silence, or the sound that was audible last.
  toggle() {
    if (this.active < 0) return this.play(this.last);
    this.rest = this.position;
    this.silence();
    this.onchange();
  }

  silence() {
    this.count();
    this.turn = null;
    this.screen?.pause();
    for (const { source, gain } of this.running) {
      source.onended = null;
      this.ramp(gain, 0);
      source.stop(this.context.currentTime + 2 * FADE);
    }
    this.running = [];
    this.active = -1;
  }

  // Plays from there, or will.
  seek(position) {
    const [from, to] = this.part;
    this.rest = Math.min(Math.max(position, from), to);
    if (this.active >= 0) this.start(this.active, this.rest);
    this.onchange();
  }

  // Repeats this part only.
  repeat(from, to) {
    this.part = [Math.max(0, from), Math.min(this.length, to)];
    this.seek(this.part[0]);
  }

  // A buffer of the part alone, its edges faded so that repeating it does not click; the sound
  // itself, where the part is all of it.
  cut(buffer) {
    const [from, to] = this.part;
    if (!this.together || (from === 0 && to === this.length && buffer.duration === to)) {
      return buffer;
    }
    const rate = buffer.sampleRate;
    const [first, size] = [Math.round(from * rate), Math.max(1, Math.round((to - from) * rate))];
    const part = this.context.createBuffer(buffer.numberOfChannels, size, rate);
    const edge = Math.min(Math.round(FADE * rate), size >> 1);
    for (let channel = 0; channel < buffer.numberOfChannels; channel++) {
      const samples = part.getChannelData(channel);
      samples.set(buffer.getChannelData(channel).subarray(first, first + size));
      if (from === 0 && to === this.length) continue; // only shorter than the others
      for (let k = 0; k < edge; k++) {
        samples[k] *= k / edge;
        samples[size - 1 - k] *= k / edge;
      }
    }
    return part;
  }

  ramp(gain, value) {
    const now = this.context.currentTime;
    gain.gain.cancelScheduledValues(now);
    gain.gain.setValueAtTime(gain.gain.value, now);
    gain.gain.linearRampToValueAtTime(value, now + FADE);
  }
}
