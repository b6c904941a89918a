// The browser's memory, where it has one: a private window may refuse, and the page works without.

export const place = location.pathname;

export const memory = {
  get(key) {
    try {
      return JSON.parse(localStorage.getItem(`listen ${key}`));
    } catch {
      return null;
    }
  },
  set(key, value) {
    try {
      if (value === null) localStorage.removeItem(`listen ${key}`);
      else localStorage.setItem(`listen ${key}`, JSON.stringify(value));
    } catch {
      // Nothing is kept, and nothing else fails.
    }
  },
};
