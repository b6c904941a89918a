// The pictures of a trial: muted videos, whole in memory, that follow the clock of its sounds. What is
// heard is never touched; a picture that is off is set a little faster or slower, or jumps.

import { h } from "./dom.js";
import { t } from "./text.js";

const NEAR = 0.02; // s off the sound, from which a picture is set faster or slower
const FAR = 0.2; // s, from which it jumps
const MAX_CHANGE = 0.1; // of its speed
const GAIN = 2; // change of speed by a second off
const SMOOTH = 0.25; // weight of the newest frame in how far it is off
const LEARNT = 3; // frames after a start, by which one knows how long it took
const MAX_LATENCY = 0.3; // s
const AT_ONCE = 0.001; // s that a paused picture may be from where it should be
const PATIENCE = 1500; // ms for a first frame, which an iPhone that saves power decodes as it plays
let latency = 0.02; // s from a call of play() to the first frame that moves, as learnt so far

// Whether this browser plays all of these types.
export const plays = (types) => types.every((type) => document.createElement("video").canPlayType(type));

export class Screen {
  // Opens what was loaded, a Blob for each picture; fails where the browser cannot play one.
  static async open(blobs) {
    const screen = new Screen(blobs.map((blob) => h("video",
      { src: URL.createObjectURL(blob), muted: true, playsinline: true, preload: "auto", tabindex: -1 })));
    try {
      await Promise.all(screen.videos.map(ready));
    } catch (error) {
      screen.close();
      throw error;
    }
    return screen;
  }

  constructor(videos) {
    this.videos = videos;
    this.figures = { frames: 0, dropped: 0, drift: 0 }; // of what was seen so far; drift in s
    this.rolling = [];
    this.element = h("div", { class: "screen", role: "img", "aria-label": t("video.label") }, videos);
    this.states = new Map(videos.map((video) => [video, {}]));
    this.hide = () => document.hidden && this.deck?.stop();
    document.addEventListener("visibilitychange", this.hide);
    this.show(0);
  }

  get latency() { return latency; }

  of(i) { return this.videos[this.videos.length > 1 ? i : 0]; }

  // Shows the picture of a sound, and no other.
  show(i) {
    this.tally();
    this.visible = this.of(i);
    this.counted = quality(this.visible);
    for (const video of this.videos) video.classList.toggle("on", video === this.visible);
  }

  // Adds what the browser has shown and left out since the last call.
  tally() {
    if (!this.visible) return;
    const now = quality(this.visible);
    this.figures.frames += now.frames - this.counted.frames;
    this.figures.dropped += now.dropped - this.counted.dropped;
    this.counted = now;
  }

  // Gets the picture of a sound ready at a position, in s, or those of all.
  cue(i, position, all) {
    this.pause();
    this.permit();
    this.show(i);
    this.rolling = all ? this.videos : [this.of(i)];
    return Promise.all(this.rolling.map((video) => seek(video, position)));
  }

  // Lets the pictures be started later on: where an iPhone saves power, only while somebody presses.
  permit() {
    if (this.permitted) return;
    this.permitted = true;
    for (const video of this.videos) {
      video.play().catch(() => null);
      video.pause();
    }
  }

  // Starts what is ready, so that it moves when the sound does: at a time of the page's clock, in ms.
  roll(deck, when) {
    this.deck = deck;
    const now = performance.now();
    for (const video of this.rolling) {
      const state = { when };
      this.states.set(video, state);
      video.playbackRate = 1;
      if (video.currentTime >= video.duration - AT_ONCE) continue; // its sound is longer
      state.timer = setTimeout(() => {
        video.play().catch(() => this.states.get(video) === state && deck.stop());
      }, when - now - 1000 * latency);
      this.watch(video, state);
    }
  }

  // Follows a picture frame by frame, as it is shown, until it rolls no more.
  watch(video, state) {
    if (this.states.get(video) !== state) return;
    const next = (frame) => {
      if (this.states.get(video) !== state) return;
      this.follow(video, state, frame.mediaTime ?? video.currentTime, frame.expectedDisplayTime ?? frame);
      this.watch(video, state);
    };
    if (video.requestVideoFrameCallback) video.requestVideoFrameCallback((_, frame) => next(frame));
    else requestAnimationFrame(next);
  }

  // A frame of that time (s) is seen at a time of the page's clock (ms).
  follow(video, state, time, at) {
    const passed = (at - state.when) / 1000;
    if (passed < 0 || video.paused || video.seeking) return;
    const off = time - this.deck.audible(at);
    if (video === this.visible) this.figures.drift = Math.max(this.figures.drift, Math.abs(off));
    state.off = (state.off ?? off) * (1 - SMOOTH) + off * SMOOTH;
    state.frames = (state.frames ?? 0) + 1;
    if (state.frames === LEARNT) latency = Math.min(MAX_LATENCY, Math.max(0, latency - state.off / 2));
    if (Math.abs(state.off) > FAR) {
      video.currentTime = this.deck.audible(performance.now()) + latency;
      state.off = undefined;
    } else if (Math.abs(state.off) > NEAR || (video.playbackRate !== 1 && Math.abs(state.off) > NEAR / 4)) {
      video.playbackRate = 1 - Math.min(MAX_CHANGE, Math.max(-MAX_CHANGE, GAIN * state.off));
    } else if (video.playbackRate !== 1) video.playbackRate = 1;
  }

  pause() {
    this.tally();
    for (const video of this.rolling) {
      clearTimeout(this.states.get(video).timer);
      this.states.set(video, {});
      video.pause();
    }
    this.rolling = [];
  }

  // Gives back what decoding takes; nothing can be shown from then on.
  close() {
    this.pause();
    this.visible = null;
    document.removeEventListener("visibilitychange", this.hide);
    for (const video of this.videos) {
      URL.revokeObjectURL(video.src);
      video.removeAttribute("src");
      video.load();
    }
  }
}

// Waits for the first frame.
function ready(video) {
  video.muted = true; // the attribute mutes none that a script has made
  return new Promise((done, fail) => {
    video.addEventListener("loadeddata", done, { once: true });
    video.addEventListener("loadedmetadata", () => setTimeout(done, PATIENCE), { once: true });
    video.addEventListener("error", () => fail(new Error(video.error?.message)), { once: true });
    video.load();
  });
}

function seek(video, position) {
  const target = Math.min(position, video.duration);
  if (!video.seeking && Math.abs(video.currentTime - target) < AT_ONCE) return null;
  return new Promise((done) => {
    video.addEventListener("seeked", done, { once: true });
    setTimeout(done, PATIENCE);
    video.currentTime = target;
  });
}

function quality(video) {
  const { totalVideoFrames: frames = 0, droppedVideoFrames: dropped = 0 } = video.getVideoPlaybackQuality?.() ?? {};
  return { frames, dropped };
}
