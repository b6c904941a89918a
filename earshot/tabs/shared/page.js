// What runs in every page before Gradio does.
// One sound at a time, also for players that live outside the page's tree. What the camera sees is
// muted, and no sound. A player that is paused before it has started has not failed.
(() => {
  const start = HTMLMediaElement.prototype.play;
  let sounding = null;
  const only = (player) => {
    if (player.muted) return;
    if (sounding !== player) sounding?.pause();
    sounding = player;
  };
  HTMLMediaElement.prototype.play = function () {
    only(this);
    return start.call(this).catch((error) => {
      if (error.name !== "AbortError") throw error;
    });
  };
  // Told late, of a player that another has silenced by now, it must not silence that one.
  document.addEventListener("play", ({ target }) => target.paused || only(target), true);
  // What a webcam recorded has no duration until it was played to its end.
  document.addEventListener("loadedmetadata", ({ target }) => {
    if (target.duration !== Infinity || target.srcObject) return;
    target.addEventListener("durationchange", () => (target.currentTime = 0), { once: true });
    target.currentTime = Number.MAX_SAFE_INTEGER;
  }, true);
})();

// An address shows a tab, /?tab=words, and asks what stands after #. What a visitor opens, and asks
// for, becomes the address; Back and Forward walk through the tabs that they opened.
(() => {
  const slug = (tab) => tab.textContent.trim().toLowerCase().replaceAll(" ", "-");
  const tabs = () => [...document.querySelectorAll('.tab-container [role="tab"]')];
  const panel = () => [...document.querySelectorAll('[role="tabpanel"]')].find((each) => each.checkVisibility());
  const field = () => panel()?.querySelector(".query :is(textarea, input)");
  const main = () => panel()?.querySelector(".main-button button:enabled");
  const show = (tab, query = "", is_step = false) => {
    const address = new URL(location);
    address.searchParams.set("tab", slug(tab));
    address.hash = query;
    history[is_step ? "pushState" : "replaceState"](history.state, "", address);
  };
  const type = (input, text) => {
    const { prototype } = input.tagName === "INPUT" ? HTMLInputElement : HTMLTextAreaElement;
    Object.getOwnPropertyDescriptor(prototype, "value").set.call(input, text);
    input.dispatchEvent(new Event("input", { bubbles: true }));
  };
  // Gradio may set a field once more after it is laid out: what is asked is what it still holds later.
  const ask = async (query) => {
    for (let tries = 0; tries < 100; tries++) {
      await new Promise((done) => setTimeout(done, 300));
      if (!field() || !main()) continue;
      if (field().value === query) return main().click();
      type(field(), query);
    }
  };
  const begin = () => {
    const name = new URL(location).searchParams.get("tab");
    const tab = tabs().find((each) => slug(each) === name);
    let query = "";
    try { query = decodeURIComponent(location.hash.slice(1)); } catch { /* no text */ }
    tab?.click();
    if (tab && query) ask(query.slice(0, 500));
    // Before Gradio hears of it, which takes a button away that starts a job.
    let is_walking = false;
    document.addEventListener("click", ({ target, isTrusted }) => {
      const clicked = target.closest?.('.tab-container [role="tab"]');
      if (clicked && !is_walking) show(clicked, "", isTrusted && clicked.ariaSelected !== "true");
      if (target.closest?.(".main-button button") && field()) {
        const open = tabs().find((each) => each.ariaSelected === "true");
        if (open) show(open, field().value.trim());
      }
    }, true);
    addEventListener("popstate", () => {
      const opened = new URL(location).searchParams.get("tab");
      is_walking = true;
      (tabs().find((each) => slug(each) === opened) ?? tabs()[0]).click();
      is_walking = false;
    });
  };
  const watch = new MutationObserver(() => {
    if (!tabs().length) return;
    watch.disconnect();
    begin();
  });
  watch.observe(document, { childList: true, subtree: true });
})();

// No click without an answer: what the server refuses is said in its own sentence, where Gradio
// says nothing, or only that the application is busy.
(() => {
  const ask = window.fetch;
  const LOST = "The server did not answer. Check the network, and try again.";
  const say = (sentence) => {
    document.querySelectorAll(".toast-body .toast-close").forEach((close) => close.click());
    document.querySelector(".refused")?.remove();
    const message = document.body.appendChild(document.createElement("p"));
    message.className = "message error refused";
    message.setAttribute("role", "alert");
    message.textContent = sentence;
    setTimeout(() => message.remove(), 8000);
  };
  window.fetch = async (...request) => {
    const address = String(request[0]?.url ?? request[0]);
    const ours = address.includes("/gradio_api/") && request[1]?.method === "POST";
    try {
      const reply = await ask(...request);
      if (ours && reply.status >= 400) {
        const { detail } = await reply.clone().json().catch(() => ({}));
        const sentence = typeof detail === "string" ? detail : LOST;
        setTimeout(say, 300, sentence); // Gradio has said by then what it says
      }
      return reply;
    } catch (error) {
      if (ours && error.name !== "AbortError") setTimeout(say, 300, LOST);
      throw error;
    }
  };
})();
