// What the page says to the server. Every address is below the page's own.

import { wait } from "./dom.js";

const PATIENCE = [500, 1000, 2000, 4000]; // ms between tries of what must not be lost

// The server's word on what is wrong, for the rater to read.
export class Refused extends Error {}

const base = location.pathname.replace(/\/$/, "");

export async function ask(path, body) {
  const response = await fetch(`${base}/${path}`, body && {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  if (response.ok) return response.json();
  if (response.status >= 500) throw new Error(`the server answered ${response.status}`);
  const { detail } = await response.json();
  throw new Refused(typeof detail === "string" ? detail : "This request was damaged on its way.");
}

// Sends until the server has said that it is stored. Storing twice does no harm.
export async function store(path, body) {
  for (const pause of PATIENCE) {
    try {
      return await ask(path, body);
    } catch (error) {
      if (error instanceof Refused) throw error;
      await wait(pause);
    }
  }
  return ask(path, body);
}

export const address = (path) => `${base}/${path}`;
