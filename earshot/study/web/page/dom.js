// The page's few words about elements.

// h("p", { class: "hint" }, "text", child) → an element. Functions become listeners.
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child != null && child !== false));
  return element;
}

const ICONS = {
  play: "M8 5.2v13.6a.6.6 0 0 0 .9.5l10.6-6.8a.6.6 0 0 0 0-1L8.9 4.7a.6.6 0 0 0-.9.5z",
  stop: "M7.5 6.5h9a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1v-9a1 1 0 0 1 1-1z",
  pause: "M7 5h3.2v14H7zM13.8 5H17v14h-3.2z",
};

export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", `icon icon-${name}`);
  const path = document.createElementNS(svg.namespaceURI, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

// Changes only what is other than before: this runs with every frame.
export function set(element, attribute, value) {
  if (element.getAttribute(attribute) !== String(value)) element.setAttribute(attribute, value);
}

export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Blank lines part paragraphs, as in the YAML; the ends of its lines are none for raters.
export function paragraphs(text) {
  return text.trim().split(/\n\s*\n/).filter(Boolean).map((part) => h("p", {}, linked(part)));
}

// A text with its links, [written](https://so).
function linked(text) {
  const parts = text.split(/\[([^\]]+)\]\(((?:https?:\/\/|mailto:)[^\s)]+)\)/);
  return parts.flatMap((part, i) => [part, h("a", { href: parts[i + 1], target: "_blank",
    rel: "noopener noreferrer" }, part), null][i % 3] ?? []);
}

export const wait = (ms) => new Promise((done) => setTimeout(done, ms));
