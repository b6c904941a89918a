// A booth: the page begins anew after two minutes without anybody, and shows one tab after the other
// until somebody comes.
(() => {
  const IDLE = 120_000; // ms
  const EACH = 20_000; // ms that a tab is shown
  const FRESH = "kiosk-fresh"; // of a page that begins anew, and that nobody has touched
  let touched = performance.now();
  let shown = touched;
  let attracting = sessionStorage.getItem(FRESH) !== null;
  document.documentElement.classList.add("kiosk");
  for (const kind of ["pointerdown", "keydown", "wheel", "touchstart"]) {
    addEventListener(kind, ({ isTrusted }) => {
      if (!isTrusted) return;
      touched = performance.now();
      attracting = false;
      sessionStorage.removeItem(FRESH);
    }, { capture: true, passive: true });
  }
  setInterval(() => {
    const now = performance.now();
    const tabs = [...document.querySelectorAll('.tab-container [role="tab"]')];
    if (!attracting && now - touched > IDLE) {
      sessionStorage.setItem(FRESH, "yes");
      location.replace(location.pathname);
    } else if (attracting && now - shown > EACH && tabs.length) {
      const open = tabs.findIndex((tab) => tab.ariaSelected === "true");
      tabs[(open + 1) % tabs.length].click();
      scrollTo(0, 0);
      shown = now;
    }
  }, 1000);
})();
