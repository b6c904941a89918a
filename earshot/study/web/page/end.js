// How it ends for a rater, and the way back to their panel.

import { h } from "./dom.js";
import { number, t } from "./text.js";

const PAUSE = 2500; // ms to read that all is stored
const ADDRESS = /^https?:/;

// The panel's address with what the rater's own link said in its gaps.
export function filled(back, params) {
  return back.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params.get(name) ?? ""));
}

// outcome: see earshot.study.design.raters; code: the rater's own; back: the panel's address or code.
// voices: whether raters are told that some were synthetic; visitors: whether a visitor opened the test, whose address nobody is taken to without a word.
// show_others: whether there may be something to look at, and nobody is taken away from it.
export function end({ outcome, code, back, preview, visitors, voices, show_others }, params) {
  const address = back && ADDRESS.test(back) ? filled(back, params) : null;
  const proof = address ? null : back ?? (outcome === "complete" ? code : null);
  const own = proof && proof === code;
  const stays = visitors || (show_others && outcome === "complete");
  if (address && !preview && !stays) setTimeout(() => location.assign(address), PAUSE);
  return h(
    "section", { class: "page" },
    h("h1", {}, t(`end.${outcome}.title`)),
    h("div", { class: "prose" },
      voices && h("p", {}, t("end.voices")),
      h("p", {}, t(own ? "end.complete.code" : `end.${outcome}.text`)),
      proof && !own && h("p", {}, t("end.code"))),
    proof && h("p", { class: "code" }, h("output", {}, proof), navigator.clipboard && copier(proof)),
    address && (preview
      ? h("p", { class: "message" }, t("end.preview", { address }))
      : h("div", { class: "actions" },
        h("a", { class: "main", href: address }, t("end.back")),
        h("p", { class: "hint" }, stays ? new URL(address).host : t("end.soon")))),
    !address && h("div", { class: "prose" }, h("p", {}, t("end.close"))),
  );
}

// How the rater's answers to each scale lie among others': what it asks, where there are several, and
// a line each of { own, others }, whose ends are the same for all of a name.
export function among(scales) {
  const line = ([name, { own, others }]) => {
    const all = [own, ...others];
    const [low, high] = name === "apart" ? [0, Math.max(...all)]
      : [-1, 1].map((side) => side * Math.max(...all.map(Math.abs)));
    const dot = (value, kind) => {
      const element = h("i", { class: kind });
      element.style.insetInlineStart = `${100 * (value - low) / (high - low || 1)}%`;
      return element;
    };
    const below = others.filter((value) => value < own).length;
    return h("figure", { class: "among" },
      h("figcaption", {}, t(`others.${name}`)),
      h("div", { class: "dots", role: "img",
        "aria-label": t("others.rank", { n: number(below), of: number(others.length) }) },
      others.map((value) => dot(value, "other")), dot(own, "own")),
      h("div", { class: "end-words", "aria-hidden": "true" },
        h("span", {}, t(`others.${name}.low`)), h("span", {}, t(`others.${name}.high`))));
  };
  return h("section", { class: "prose" }, h("h2", {}, t("others.title")),
    h("p", {}, t("others.text", { n: number(scales[0].lines.apart.others.length) })),
    scales.flatMap(({ question, lines }) => [question && h("h3", {}, question), ...Object.entries(lines).map(line)]));
}

function copier(code) {
  const button = h("button", { type: "button", onclick: async () => {
    await navigator.clipboard.writeText(code);
    button.textContent = t("end.copied");
  } }, t("end.copy"));
  return button;
}
