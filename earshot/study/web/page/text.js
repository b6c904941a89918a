// What the page says, in the rater's language: the server puts all of it into the page.

const words = JSON.parse(document.getElementById("words").textContent);
const { lang } = document.documentElement;
const numbers = new Intl.NumberFormat(lang);
const plurals = new Intl.PluralRules(lang);

// A number as the language writes it.
export const number = (value, digits = 0) => new Intl.NumberFormat(
  lang, { minimumFractionDigits: digits, maximumFractionDigits: digits },
).format(value);

// Some texts, as the language lists them; what is none is left out.
export const list = (texts) => new Intl.ListFormat(lang, { type: "unit" }).format(texts.filter(Boolean));

// t("count", { n: 2, of: 5 }) → "2 of 5". Where there is a plural, it is n's.
export function t(key, values = {}) {
  const text = words[key] ?? key;
  if (typeof text !== "object" || Array.isArray(text)) return fill(text, values);
  return fill(text[plurals.select(values.n)] ?? text.other, values);
}

// What the server says: its English sentences are translated where the page's are.
export const translate = (sentence) => words[sentence] ?? sentence;

function fill(text, values) {
  if (typeof text !== "string") return text;
  return text.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    return typeof value === "number" ? numbers.format(value) : value;
  });
}
