// A booth: the page begins anew after two minutes without anybody, with nothing of who was there, and
// shows one tab after the other, with an example of each, until somebody comes.
(() => {
  const IDLE = 120_000; // ms
  const EACH = 20_000; // ms that a tab is shown once its example has run
  const MAX_RUN = 60_000; // ms that an example is waited for
  const FIRST = 5_000; // ms until the page is there
  const LAID_OUT = 2_000; // ms until a tab is
  const FRESH = "kiosk-fresh"; // of a page that begins anew, and that nobody has touched
  let touched = performance.now();
  let opened = touched; // when the tab was
  let shown = touched; // since when there is nothing to wait for in it
  let turn = 0; // how many tabs were shown
  let attracting = sessionStorage.getItem(FRESH) !== null;
  const others = new Set(); // windows of ours that were opened from this page
  const watched = new WeakSet(); // documents
  document.documentElement.classList.add("kiosk");
  if (attracting) localStorage.clear();
  const touch = ({ isTrusted }) => {
    if (!isTrusted) return;
    touched = performance.now();
    attracting = false;
    sessionStorage.removeItem(FRESH);
  };
  const watch = (place) => {
    if (watched.has(place.document)) return;
    watched.add(place.document);
    for (const kind of ["pointerdown", "keydown", "wheel", "touchstart"])
      place.addEventListener(kind, touch, { capture: true, passive: true });
  };
  watch(window);
  // A window that a link opens by itself could be neither watched nor closed.
  addEventListener("click", (event) => {
    const link = event.target.closest?.('a[target="_blank"]');
    const other = link?.origin === location.origin && window.open(link.href);
    if (!other) return;
    event.preventDefault();
    others.add(other);
  }, { capture: true });
  // Press the next example of the open tab, which has just been laid out where it is opened first.
  const run = () => {
    const chips = [...document.querySelectorAll(".chips button")].filter((chip) => chip.checkVisibility());
    const tabs = document.querySelectorAll('.tab-container [role="tab"]').length;
    if (attracting && chips.length) chips[Math.floor(turn / tabs) % chips.length].click();
  };
  const running = () =>
    [...document.querySelectorAll("button")].some((one) => one.textContent.trim() === "Stop" && one.checkVisibility());
  if (attracting) setTimeout(run, FIRST);
  setInterval(() => {
    for (const other of others) {
      if (other.closed) others.delete(other);
      else try { watch(other); } catch {} // it shows another site's page
    }
    const now = performance.now();
    const tabs = [...document.querySelectorAll('.tab-container [role="tab"]')];
    if (!attracting && now - touched > IDLE) {
      for (const other of others) other.close();
      sessionStorage.setItem(FRESH, "yes");
      location.replace(location.pathname);
    } else if (attracting && running() && now - opened < MAX_RUN) {
      shown = now;
    } else if (attracting && now - shown > EACH && tabs.length) {
      const open = tabs.findIndex((tab) => tab.ariaSelected === "true");
      tabs[(open + 1) % tabs.length].click();
      scrollTo(0, 0);
      opened = shown = now;
      turn += 1;
      setTimeout(run, LAID_OUT);
    }
  }, 1000);
})();
