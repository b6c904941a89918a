// A large button that plays one sound from its beginning, and shows how far it is.

import { h, icon, set } from "./dom.js";

export function card(name, label, onclick) {
  return h(
    "button",
    { type: "button", class: "card", "aria-label": name, "aria-pressed": "false", onclick },
    h("span", { class: "disc" }, icon("play"), icon("stop")),
    label && h("span", { class: "card-name" }, label),
    h("span", { class: "line" }, h("i")),
  );
}

export function press(deck, i) {
  if (deck.active === i) deck.toggle();
  else deck.play(i);
}

export function draw(element, deck, i) {
  const on = deck.active === i;
  element.classList.toggle("on", on);
  element.classList.toggle("heard", deck.hasPlayed(i));
  set(element, "aria-pressed", on);
  element.style.setProperty("--done", on ? deck.position / deck.buffers[i].duration : 0);
}
