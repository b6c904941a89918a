// A stand: while nobody is there, the page shows one tab after the other, with an example of each,
// under “Touch to try”. Whoever touches it finds an empty recorder; two minutes after the last touch
// the page begins anew, with nothing of who was there. What fails meanwhile is said, and mended.
(() => {
  const IDLE = 120_000; // ms
  const TAB_TIME = 20_000; // ms that a tab is shown once its example has run
  const MAX_RUN = 60_000; // ms that an example is waited for
  const START = 5_000; // ms until the page is there
  const LAID_OUT = 2_000; // ms until a tab is
  const ASK = 5_000; // ms between two questions whether the server is there
  const NO_MICROPHONE = "There is no microphone here just now: try the example.";
  const NO_SOUND = "Headphones or loudspeakers are gone: plug them in again to hear something.";
  const TWO_SCREENS = "Two screens are connected, and this page is on one: let them show the same.";
  const AWAY = "One moment: Earshot is starting again.";
  let touched = performance.now();
  let opened = touched; // when the tab was
  let resting = touched; // since when there is nothing to wait for in it
  let attracting = true;
  let away = false; // whether the server is
  let hadSound = false;
  const notices = new Map(); // what does not work: a sentence by its cause
  const others = new Set(); // windows of ours that were opened from this page
  const watched = new WeakSet(); // documents
  const root = document.documentElement;
  root.classList.add("kiosk");
  localStorage.clear();
  const visible = (selector) =>
    [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility());
  const stopButtons = () => visible("button").filter((one) => one.textContent.trim() === "Stop");

  const veil = document.createElement("button");
  veil.className = "kiosk-veil";
  veil.innerHTML = "<span>Touch to try</span>";
  veil.addEventListener("click", () => veil.remove());
  const strip = document.createElement("p");
  strip.className = "kiosk-notice";
  strip.setAttribute("role", "status");
  const laidOut = new Promise((done) => {
    if (document.body) done();
    else addEventListener("DOMContentLoaded", done);
  });
  laidOut.then(() => document.body.append(veil, strip));
  const notice = (cause, sentence) => {
    if (sentence) notices.set(cause, sentence);
    else notices.delete(cause);
    const text = [...notices.values()].join(" ");
    if (strip.textContent !== text) strip.textContent = text;
  };

  // Somebody comes: what the example did is stopped, and the recordings of all are taken out of the
  // recorders, also one that the server sends only now.
  const empty = () => {
    for (const button of document.querySelectorAll('.room-input [aria-label="Clear"]'))
      if (!button.closest(".audio-container:has(.record-button)")) button.click();
  };
  const begin = () => {
    attracting = false;
    for (const button of stopButtons()) button.click();
    for (const player of document.querySelectorAll("audio, video")) player.pause();
    for (const wait of [0, 500, 1_000, 1_500]) setTimeout(empty, wait);
    notice("screens", "");
    scrollTo(0, 0);
  };
  const touch = ({ isTrusted, type }) => {
    if (!isTrusted) return;
    touched = performance.now();
    if (attracting) begin();
    if (type === "keydown") veil.remove();
  };
  const watch = (place) => {
    if (watched.has(place.document)) return;
    watched.add(place.document);
    for (const kind of ["pointerdown", "keydown", "wheel", "touchstart"])
      place.addEventListener(kind, touch, { capture: true, passive: true });
    if (place === window) return;
    // It fills the screen, without a frame to close it by.
    const back = place.document.createElement("button");
    back.textContent = "Back";
    back.style.cssText = "position: fixed; z-index: 1000; right: 16px; top: 16px; padding: 10px 20px; "
      + "border: 0; border-radius: 99px; font: 600 18px system-ui; color: #fff; background: #0f766e";
    back.addEventListener("click", () => place.close());
    place.document.body.append(back);
  };
  watch(window);
  // A window that a link opens by itself could be neither watched nor closed, and from another
  // site's page nobody comes back.
  addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    if (link && link.origin !== location.origin && link.protocol !== "blob:") event.preventDefault();
    else if (link?.target === "_blank" && !link.download) {
      event.preventDefault();
      const other = open(link.href);
      if (other) others.add(other);
    }
  }, { capture: true });

  // Press the example of the open tab, which has just been laid out where it is opened first.
  const run = () => {
    if (attracting) visible(".chips button")[0]?.click();
  };
  setTimeout(run, START);
  const look = async () => {
    const kinds = (await navigator.mediaDevices.enumerateDevices()).map((each) => each.kind);
    const deaf = !kinds.includes("audioinput");
    root.classList.toggle("no-microphone", deaf);
    notice("microphone", deaf ? NO_MICROPHONE : "");
    if (deaf) for (const button of visible(".sound-input .stop-button")) button.click();
    notice("sound", hadSound && !kinds.includes("audiooutput") ? NO_SOUND : "");
    hadSound ||= kinds.includes("audiooutput");
  };
  navigator.mediaDevices?.addEventListener("devicechange", look);
  if (navigator.mediaDevices) look();
  const ask = async () => {
    try {
      await fetch("phone", { cache: "no-store" });
      if (away) location.replace(location.pathname);
    } catch {
      away = true;
      notice("server", AWAY);
    }
  };
  setInterval(ask, ASK);
  const anew = () => {
    for (const other of others) other.close();
    if (!away) location.replace(location.pathname);
  };
  setInterval(() => {
    for (const other of others) {
      if (other.closed) others.delete(other);
      else try { watch(other); } catch {} // it is being loaded
    }
    const now = performance.now();
    const tabs = visible('.tab-container [role="tab"]');
    if (attracting) notice("screens", screen.isExtended ? TWO_SCREENS : "");
    if (!attracting && now - touched > IDLE) {
      anew();
    } else if (attracting && stopButtons().length && now - opened < MAX_RUN) {
      resting = now;
    } else if (attracting && now - resting > TAB_TIME && tabs.length) {
      // One round, and a fresh page: it may stand here for days.
      const next = tabs[1 + tabs.findIndex((tab) => tab.ariaSelected === "true")];
      if (!next) return anew();
      next.click();
      scrollTo(0, 0);
      opened = resting = now;
      setTimeout(run, LAID_OUT);
    }
  }, 1000);
})();
