// One sound at a time; another system of the same sentence goes on from the same place.
(() => {
  const STEP = 1; // seconds of an arrow key
  const END = 0.05; // seconds before the end from which a sound begins again
  let current = null; // the cell that plays, or played last

  const audio = cell => cell.querySelector("audio");
  const row = cell => cell.closest(".row");
  const cells = section => [...section.querySelectorAll(".cell")];
  const length = cell => Number(cell.style.getPropertyValue("--seconds"));
  const time = section => Number(section.style.getPropertyValue("--time")) || 0;

  function show(section, seconds) {
    section.classList.add("begun");
    section.style.setProperty("--time", seconds.toFixed(3));
  }

  function press(cell, playing) {
    cell.querySelector("button").setAttribute("aria-pressed", playing);
  }

  function seek(cell, seconds) {
    const sound = audio(cell);
    cell.start = seconds; // where it is still to be loaded
    if (sound.readyState) sound.currentTime = seconds;
  }

  function play(cell, seconds = time(row(cell))) {
    if (current && current !== cell) audio(current).pause();
    current = cell;
    seek(cell, seconds < length(cell) - END ? seconds : 0);
    // The others of the sentence are loaded now, for a switch is to be heard at once.
    for (const other of row(cell).querySelectorAll("audio")) other.preload = "auto";
    audio(cell).play().catch(() => press(cell, false));
  }

  function toggle(cell) {
    if (audio(cell).paused) play(cell);
    else audio(cell).pause();
  }

  function follow() {
    if (!current || audio(current).paused) return;
    if (audio(current).readyState) show(row(current), audio(current).currentTime);
    requestAnimationFrame(follow);
  }

  for (const cell of document.querySelectorAll(".cell:has(audio)")) {
    const sound = audio(cell);
    sound.removeAttribute("controls");
    sound.addEventListener("loadedmetadata", () => { if (cell.start) sound.currentTime = cell.start; });
    sound.addEventListener("play", () => { press(cell, true); requestAnimationFrame(follow); });
    sound.addEventListener("pause", () => press(cell, false));
    sound.addEventListener("ended", () => show(row(cell), 0));
    sound.lastElementChild.addEventListener("error", () => {
      press(cell, false);
      cell.querySelector(".player").outerHTML = '<p class="missing">This sound cannot be played here.</p>';
      if (current === cell) current = null;
    });
    cell.querySelector("button").addEventListener("click", () => toggle(cell));
    cell.querySelector(".picture").addEventListener("click", event => {
      const box = event.currentTarget.getBoundingClientRect();
      const seconds = (event.clientX - box.left) / box.width * length(cell);
      show(row(cell), seconds);
      play(cell, seconds);
    });
  }

  // The sentence that keys are about: that of the focus, of the last sound, or the first in sight.
  function section() {
    const focused = document.activeElement.closest(".row");
    const inSight = each => each.getBoundingClientRect().bottom > 80;
    return focused || (current && row(current)) || [...document.querySelectorAll(".row")].find(inSight);
  }

  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const about = section();
    if (!about) return;
    if (event.key >= "1" && event.key <= "9") {
      const cell = cells(about)[event.key - 1];
      const button = cell && cell.querySelector("button");
      if (!button) return;
      button.focus({ preventScroll: true }); // Space goes on with this one
      play(cell);
    } else if (event.key === " " && !event.target.closest("button, a, pre, .scroll") && current) {
      event.preventDefault();
      toggle(current);
    } else if (event.key.startsWith("Arrow") && current && row(current) === about && !event.target.closest("pre, .scroll")) {
      const step = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key];
      if (!step) return;
      event.preventDefault();
      const seconds = Math.min(Math.max(time(about) + step, 0), length(current) - END);
      show(about, seconds);
      seek(current, seconds);
    }
  });
})();
