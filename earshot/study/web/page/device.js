// What a rater's device does to the sounds while they play: it skips, its clock stands, its output
// changes, its page is hidden. The figures are those of one trial.

import { say } from "./dom.js";
import { number, t } from "./text.js";

const MOMENT = 1000; // ms: gaps within it are one dropout; the browser's own count comes as often
const START = 1500; // ms of a new context in which gaps are its beginning
const WINDOW = 400; // ms over which the clock of the sound is held against the page's
const MIN_LOOKS = 8; // at both clocks in a window, else it is longer
const MIN_GAP = 20; // ms that the clock of the sound falls behind, from which on it skipped
const CALL_RATE = 24_000; // Hz, up to which headphones sound as in a call
const FIGURES = ["dropouts", "lost", "stalls", "hidden", "changes"];
// What the server takes, as in earshot.study.web.rater_routes.
const MAX_COUNT = 10_000;
const MAX_LOST = 3_600_000; // ms
const MAX_RATE = 1_000_000; // Hz
const MAX_LATENCY = 60_000; // ms

export class Device {
  // onchange: another output may play from now on.
  constructor(onchange) {
    this.begin();
    this.changed = -Infinity;
    navigator.mediaDevices?.addEventListener?.("devicechange", () => {
      const now = performance.now();
      if (now - this.changed > MOMENT) this.figures.changes += 1;
      this.changed = now;
      onchange();
    });
    document.addEventListener("visibilitychange", () => {
      if (document.hidden && this.sounding) this.figures.hidden += 1;
      this.window = this.low = null; // no frame is drawn meanwhile
    });
  }

  // A trial begins, or goes on with the figures that the browser's memory has of it.
  begin(figures) {
    this.figures = Object.fromEntries(FIGURES.map((name) => [name, Number(figures?.[name]) || 0]));
    this.sounding = false;
    this.sounded = this.skipped = -Infinity;
  }

  // To be called with every frame. sounding: whether something is to be heard; now: ms.
  look(context, sounding, now) {
    if (context !== this.context) {
      Object.assign(this, { context, opened: null, underrun: null, window: null, low: null,
        noise: Infinity });
    }
    this.sounding = sounding;
    if (sounding) this.sounded = now;
    if (context.state !== "running") return;
    this.opened ??= now;
    const gap = context.playbackStats ? this.underruns(context.playbackStats) : this.behind(context, now);
    if (gap > 0 && now - this.opened > START && now - this.sounded < MOMENT) this.skip(gap, now);
  }

  skip(gap, now) {
    if (now - this.skipped >= 0.9 * MOMENT) {
      this.figures.dropouts += 1;
      this.skipped = now;
    }
    this.figures.lost += gap;
  }

  // What the browser left out since the last look, in ms, as it counts.
  underruns({ underrunDuration }) {
    const before = this.underrun ?? underrunDuration;
    this.underrun = underrunDuration;
    return 1000 * (underrunDuration - before);
  }

  // The same where it does not count: by how much the clock of the sound has fallen behind. It is read
  // late, never early, so the least of a window is what counts; and some browsers blur the page's.
  behind({ currentTime }, now) {
    const off = now - 1000 * currentTime;
    const window = this.window ??= { since: now, looks: 0, low: off, high: off };
    window.looks += 1;
    window.low = Math.min(window.low, off);
    window.high = Math.max(window.high, off);
    if (now - window.since < WINDOW || window.looks < MIN_LOOKS) return 0;
    const gap = this.low === null ? 0 : window.low - this.low;
    const least = Math.max(MIN_GAP, Math.min(this.noise, window.high - window.low));
    this.noise = Math.min(this.noise, window.high - window.low);
    this.low = window.low;
    this.window = null;
    return gap > least ? gap : 0;
  }

  // The clock stands, though something should sound.
  stall() {
    if (this.sounding) this.figures.stalls += 1;
    this.sounding = false;
  }

  // What goes to the server: whole numbers that it takes, whatever the browser says.
  get report() {
    const whole = (value, most) => Math.min(most, Math.max(0, Math.round(value) || 0));
    const { lost, ...counts } = this.figures;
    const { sampleRate, outputLatency, baseLatency } = this.context ?? {};
    return {
      ...Object.fromEntries(Object.keys(counts).map((name) => [name, whole(counts[name], MAX_COUNT)])),
      // Over plain HTTP nobody says when a device comes or goes.
      ...(!navigator.mediaDevices && { changes: null }),
      lost: whole(lost, MAX_LOST),
      rate: whole(sampleRate, MAX_RATE) || null,
      latency: whole(1000 * (outputLatency || baseLatency), MAX_LATENCY) || null,
    };
  }

  // What a rater can do about it; "" where all is well.
  get advice() {
    const rate = this.context?.sampleRate;
    if (rate <= CALL_RATE) return t("device.call", { n: number(rate / 1000) });
    return this.figures.dropouts ? t("device.skipped") : "";
  }
}

// Shows the advice as soon as there is some.
export function advise(element, device) {
  say(element, device.advice);
  element.hidden = !device.advice;
}
