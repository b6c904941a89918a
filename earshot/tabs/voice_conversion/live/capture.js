// AudioWorklet: what the microphone hears, 20 ms at a time, as 16 bits, straight to the worker.
// Its clock is the frame counter that it shares with live/playback.js.
const SECONDS = 0.02;

class Capture extends AudioWorkletProcessor {
  constructor() {
    super();
    this.size = Math.round(SECONDS * sampleRate);
    this.begin();
    this.port.onmessage = ({ data }) => (this.worker = data.worker);
  }

  process([[channel]]) {
    if (!this.worker) return true;
    for (let i = 0; i < 128; i++) {
      const sample = Math.max(-1, Math.min(1, channel ? channel[i] : 0));
      this.peak = Math.max(this.peak, Math.abs(sample));
      this.samples[this.filled++] = 32767 * sample;
      if (this.filled === this.size) this.send(currentFrame + i + 1);
    }
    return true;
  }

  // end: the frame after the last sample.
  send(end) {
    const { samples, peak } = this;
    this.worker.postMessage({ samples, position: end - this.size, peak }, [samples.buffer]);
    this.begin();
  }

  begin() {
    this.samples = new Int16Array(this.size);
    this.filled = this.peak = 0;
  }
}

registerProcessor("live-capture", Capture);
