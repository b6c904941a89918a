// Gradio's recorders: a level and a running clock while one records, and in one that is full a button
// that empties it and records again.
(() => {
  const FLOOR = -60; // dBFS, at the left end of the level
  const EVERY = 50; // ms between two levels
  const ROW = `<div class="recording-level" role="meter" aria-label="Level of the microphone"
    aria-valuemin="${FLOOR}" aria-valuemax="0"><i></i></div><time role="timer">0:00</time>`;
  let pressed = null; // the recorder that is about to be given the microphone

  const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

  function watch(box, stream) {
    const context = new AudioContext();
    const analyser = context.createAnalyser();
    context.createMediaStreamSource(stream).connect(analyser);
    const samples = new Float32Array(analyser.fftSize);
    const row = document.createElement("div");
    row.className = "recording-now";
    row.innerHTML = ROW;
    const [, least = 0] = box.className.match(/at-least-(\d+)/) ?? []; // seconds that are needed
    box.append(row);
    let seconds = 0;
    let before = performance.now();
    const end = () => {
      clearInterval(timer);
      context.close();
      row.remove();
      delete box.dataset.recording;
    };
    const timer = setInterval(() => {
      if (!stream.active || !("recording" in box.dataset) || !box.querySelector(".stop-button")) return end();
      const now = performance.now();
      const paused = box.querySelector(".pause-button")?.style.display === "none";
      if (!paused) seconds += (now - before) / 1000;
      before = now;
      analyser.getFloatTimeDomainData(samples);
      const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
      const level = Math.max(FLOOR, 10 * Math.log10(power + 1e-9));
      row.querySelector("i").style.transform = `scaleX(${(paused ? 0 : 1 - level / FLOOR).toFixed(3)})`;
      row.querySelector("[role=meter]").setAttribute("aria-valuenow", Math.round(level));
      const missing = Math.ceil(least - seconds);
      const text = clock(seconds) + (missing > 0 ? `, ${missing} s more` : "");
      const time = row.querySelector("time");
      if (time.textContent !== text) time.textContent = text; // a new one lays the whole page out
    }, EVERY);
    box.dataset.recording = box.dataset.recorded = "";
  }

  // Gradio asks for the microphone itself: what it is given is measured as well.
  const devices = globalThis.MediaDevices?.prototype;
  const ask = devices?.getUserMedia;
  if (ask)
    devices.getUserMedia = async function (constraints) {
      const box = pressed;
      pressed = null;
      const stream = await ask.call(this, constraints);
      if (box && stream.getAudioTracks().length) watch(box, stream);
      return stream;
    };

  // The recorder is there a few frames after it was emptied.
  async function again(box) {
    box.querySelector('[aria-label="Clear"]').click();
    for (let tries = 0; tries < 100; tries++) {
      await new Promise(requestAnimationFrame);
      const button = box.querySelector(".record-button:enabled");
      if (button?.checkVisibility()) return button.click();
    }
  }

  document.addEventListener("click", ({ target }) => {
    const box = target.closest?.(".records");
    if (!box) return;
    if (target.closest(".record-button")) pressed = box;
    if (target.closest(".stop-button, .stop-button-paused")) delete box.dataset.recording;
    if (target.closest(".record-again")) again(box);
  }, true);

  // A player takes the place of the recorder, and goes with its button.
  let due = false;
  function offer() {
    due = false;
    for (const controls of document.querySelectorAll('.records [data-testid="waveform-controls"]')) {
      const box = controls.closest(".records");
      const uploads = box.querySelector('.source-selection [aria-label="Upload file"].selected');
      if (uploads || controls.parentElement.querySelector(".record-again")) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "record-again";
      button.textContent = "recorded" in box.dataset ? "Record again" : "Record";
      controls.after(button);
    }
  }
  new MutationObserver(() => {
    if (!due) requestAnimationFrame(offer);
    due = true;
  }).observe(document, { childList: true, subtree: true });
})();
