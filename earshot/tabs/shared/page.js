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

// Who clicks twice means once: where a job or a recording began with the first click, Stop stands there by
// the second, or what the page was scrolled to.
(() => {
  let began = null;
  addEventListener("click", (event) => {
    const button = event.target.closest?.("button");
    if (event.detail > 1 && began && button !== began) {
      event.stopImmediatePropagation();
      event.preventDefault();
    } else began = button?.closest(".main-button, .chips, .record-button, .record-again") ? button : null;
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
// says nothing, or only that the application is busy. Whether a file is a sound or a video, the server
// tells by its content: Gradio, by the browser's name of its type, would list types instead.
(() => {
  const ask = window.fetch;
  const LOST = "The server did not answer. Check the network, and try again.";
  const OUR_FAULT = "Something went wrong on our side. Please try again, or try another input.";
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
        const sentence = typeof detail === "string" ? detail : reply.status === 500 ? OUR_FAULT : LOST;
        setTimeout(say, 300, sentence); // Gradio has said by then what it says
      }
      return reply;
    } catch (error) {
      if (ours && error.name !== "AbortError") setTimeout(say, 300, LOST);
      throw error;
    }
  };

  const MAX_MB = 100;
  const MAX_NAMED = 8;
  const listed = (files) => {
    const names = files.slice(0, MAX_NAMED).map(({ name }) => name).join(", ");
    return files.length > MAX_NAMED ? `${names} and ${files.length - MAX_NAMED} more` : names;
  };
  // Those files that are sent, each of a type that its box lets through.
  const sent = (input, files) => {
    const large = files.filter(({ size }) => size > MAX_MB * 1e6);
    if (large.length) say(`Not sent, for a file may have ${MAX_MB} MB at most: ${listed(large)}.`);
    const [, kind] = input.accept.match(/(\w+)\/\*/) ?? [];
    return files.filter((file) => !large.includes(file)).map((file) =>
      !kind || file.type.startsWith(`${kind}/`) ? file : new File([file], file.name, { type: `${kind}/any` }));
  };
  // Box of a video → the visitor's file, which the server deletes after use, where that had it, and where
  // it is played.
  const own = new WeakMap();
  const keep = (box, file) => {
    URL.revokeObjectURL(own.get(box)?.played);
    own.set(box, { file, place: "", played: "" });
  };
  addEventListener("change", (event) => {
    const input = event.target;
    if (input.type !== "file") return;
    const files = [...input.files];
    const those = sent(input, files);
    if (files.length && !those.length) event.stopImmediatePropagation();
    if (those.some((file, i) => file !== files[i]) || those.length < files.length) {
      const transfer = new DataTransfer();
      those.forEach((file) => transfer.items.add(file));
      input.files = transfer.files;
    }
    keep(input.closest(".block") ?? input, those[0]);
  }, true);
  addEventListener("drop", (event) => {
    const input = event.target.closest?.("button, .upload-container")?.querySelector('input[type="file"]');
    if (!input || !event.dataTransfer) return;
    const files = sent(input, [...event.dataTransfer.files]).slice(0, input.multiple ? undefined : 1);
    Object.defineProperty(event, "dataTransfer", { value: { files } });
    keep(input.closest(".block") ?? input, files[0]);
  }, true);
  // An uploaded video is played from the visitor's own file. One that the browser cannot play may be
  // read all the same, and where it cannot, the server says so.
  addEventListener("loadstart", ({ target }) => {
    const box = target.closest?.(".block"), upload = own.get(box);
    if (!upload?.file || target.tagName !== "VIDEO" || !target.src.includes("/gradio_api/file=")) return;
    upload.place ||= target.src;
    if (target.src !== upload.place) return keep(box); // a later recording
    target.src = upload.played ||= URL.createObjectURL(upload.file);
  }, true);
  addEventListener("error", (event) => {
    if (event.target.tagName === "VIDEO") event.stopImmediatePropagation();
  }, true);
})();
