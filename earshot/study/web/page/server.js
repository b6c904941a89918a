// What the page says to the server. Every address is below the page's own.

import { wait } from "./dom.js";
import { t } from "./text.js";

const PATIENCE = [500, 1000, 2000, 4000]; // ms between tries of what must not be lost

// The server's word on what is wrong, for the rater to read.
export class Refused extends Error {}

// What is not stored yet, and may be if it is sent again.
export class Unstored extends Error {}

// The test has closed, or has no place left, since the page last asked.
export class Over extends Error {}

const base = location.pathname.replace(/\/$/, "");

export async function ask(path, body) {
  const response = await fetch(`${base}/${path}`, body && {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  if (response.ok) return response.json();
  if (response.status >= 500) throw new Error(`the server answered ${response.status}`);
  // Another tab has answered: the page asks anew how the test stands, as where it is over.
  if (response.status === 410 || (response.status === 409 && path === "answer")) throw new Over();
  const { detail } = await response.json();
  throw new Refused(typeof detail === "string" ? detail : t("refused.damaged"));
}

// Sends some times until the server says that it is stored. Storing twice does no harm.
export async function store(path, body) {
  for (const pause of [...PATIENCE, null]) {
    try {
      return await ask(path, body);
    } catch (error) {
      if (error instanceof Refused || error instanceof Over) throw error;
      if (pause === null) throw new Unstored(error.message);
      await wait(pause);
    }
  }
}

export const address = (path) => `${base}/${path}`;
