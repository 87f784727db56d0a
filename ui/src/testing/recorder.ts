/** The network of a test: what was sent, and what is answered. It is imported before the client, which takes `fetch` once. */

export interface Sent { readonly path: string; readonly body: string }

export const sent: Sent[] = [];
/** What a call is answered with, made anew each time; undefined where it is refused. */
export const calls: { answer: () => unknown } = { answer: () => undefined };
const REFUSED = { type: "about:blank", title: "Refused", status: 422, detail: "refused", issues: [] };

globalThis.fetch = (input, init) => {
  const path = typeof input === "string" ? input : input instanceof URL ? input.href : input.url;
  if (init?.method !== "POST") return Promise.resolve(Response.json({ suspensions: [], turns: [] }));
  sent.push({ path, body: typeof init.body === "string" ? init.body : "" });
  const answer = path.endsWith("/calls") ? calls.answer() : undefined;
  if (answer !== undefined) return Promise.resolve(Response.json(answer));
  return Promise.resolve(Response.json(REFUSED, { status: 422, headers: { "content-type": "application/problem+json" } })); // what was typed stays
};
Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
Element.prototype.scrollIntoView = () => undefined; // which jsdom has not
globalThis.ResizeObserver = class { observe() { /* nothing is resized */ } unobserve() { /* as said */ } disconnect() { /* as said */ } };
