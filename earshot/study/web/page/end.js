// How it ends for a rater, and the way back to their panel.

import { h } from "./dom.js";
import { t } from "./text.js";

const PAUSE = 2500; // ms to read that all is stored
const ADDRESS = /^https?:/;

// The panel's address with what the rater's own link said in its gaps.
export function filled(back, params) {
  return back.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params.get(name) ?? ""));
}

// outcome: see earshot.study.design.raters; code: the rater's own; back: the panel's address or code.
// voices: whether raters are told that some were synthetic; visitors: whether a visitor opened the test, whose address nobody is taken to without a word.
export function end({ outcome, code, back, preview, visitors, voices }, params) {
  const address = back && ADDRESS.test(back) ? filled(back, params) : null;
  const shown = address ? null : back ?? (outcome === "complete" ? code : null);
  const own = shown && shown === code;
  if (address && !preview && !visitors) setTimeout(() => location.assign(address), PAUSE);
  return h(
    "section", { class: "page" },
    h("h1", {}, t(`end.${outcome}.title`)),
    h("div", { class: "prose" },
      voices && h("p", {}, t("end.voices")),
      h("p", {}, t(own ? "end.complete.code" : `end.${outcome}.text`)),
      shown && !own && h("p", {}, t("end.code"))),
    shown && h("p", { class: "code" }, h("output", {}, shown), navigator.clipboard && copier(shown)),
    address && (preview
      ? h("p", { class: "message" }, t("end.preview", { address }))
      : h("div", { class: "actions" },
        h("a", { class: "main", href: address }, t("end.back")),
        h("p", { class: "hint" }, visitors ? new URL(address).host : t("end.soon")))),
    !address && h("div", { class: "prose" }, h("p", {}, t("end.close"))),
  );
}

function copier(code) {
  const button = h("button", { type: "button", onclick: async () => {
    await navigator.clipboard.writeText(code);
    button.textContent = t("end.copied");
  } }, t("end.copy"));
  return button;
}
