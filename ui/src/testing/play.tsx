/** Random typing into the real forms of the page; what is sent is compared with what is seen. */

import { calls, sent } from "./recorder";
import { act, useState, type ReactNode } from "react";
import { createRoot, type Root } from "react-dom/client";
import { Conversation } from "../agents/Conversation";
import type { Catalog, Tool, TypedSchema, Suspension } from "../api/client";
import type { JsonObject } from "../kit/values";
import { EMPTY } from "../runs/timeline";
import { Unknown } from "../runs/Unknown";
import { CallTab } from "../tools/CallTab";
import { SuspensionPanel } from "../suspensions/SuspensionPanel";
import { displayed, documentOf, exact, pick, same, schemaOf, TYPED, type Displayed, type Exact, type Random } from "./displayed";

export const FORMS = ["call", "approval", "question", "resolution", "conversation"] as const;
export type FormName = (typeof FORMS)[number];

/** How a form is drawn for a schema, and what its requests have of what is seen. */
interface Drawn {
  readonly shown: ReactNode;
  /** The ids of the fields that a request has, by their names there; "" is the whole. */
  readonly fields: (path: string, body: Exact) => Readonly<Record<string, string>>;
  /** What a request has of them. */
  readonly part: (body: Exact) => Exact;
}

const catalogOf = (tools: readonly Tool[]): Catalog => ({ catalog: { design: "d" }, tools });
const toolOf = (payload: TypedSchema): Tool => ({ id: "a.b.c", name: "c", service: "a", toolset: "b", kind: "function", payload });
const at = (value: Exact | undefined, key: string): Exact | undefined => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, Exact>>)[key] : undefined);
/** Some parts of a body; an empty text is none. */
const only = (body: Exact, ...keys: readonly string[]): Exact => Object.fromEntries(keys.flatMap((key) => { const value = at(body, key); return value === undefined || (value === "" && key !== "answer") ? [] : [[key, value]]; }));

/** The tab of calls, with the address that it is shown at. */
function Calls({ tool, payload, catalog }: { tool: Tool; payload: TypedSchema; catalog: Catalog }) {
  const [chosen, choose] = useState("");
  return <CallTab tool={tool} payload={payload} catalog={catalog} chosen={chosen} choose={choose} />;
}

function drawn(form: FormName, schema: JsonObject, random: Random): Drawn {
  const payload = { name: "Payload", schema, examples: [documentOf(random), documentOf(random)] as NonNullable<TypedSchema["examples"]> };
  const tool = toolOf(payload);
  const catalog = catalogOf([tool]);
  const suspension = { id: "w1", run_id: "r1", tool: tool.id, kind: form === "approval" ? "confirmation" : "clarification", seal: "sealed", question: "Go?", answer_schema: form === "approval" ? { type: "object", properties: { approved: { type: "boolean" }, payload: schema } } : schema } as Suspension;
  switch (form) {
    case "call": return {
      shown: <Calls tool={tool} payload={payload} catalog={catalog} />,
      fields: () => ({ arguments: "arguments", session: "session" }), part: (body) => only(body, "arguments", "session"),
    };
    case "approval": return {
      shown: <SuspensionPanel suspension={suspension} catalog={catalog} isOpen again={() => undefined} />,
      fields: (_, body): Record<string, string> => (at(at(body, "answer"), "approved") === true ? { payload: "w1-answer", message: "w1-reason" } : { message: "w1-reason" }), part: (body) => only(at(body, "answer") ?? null, "payload", "message"),
    };
    case "question": return {
      shown: <SuspensionPanel suspension={suspension} catalog={catalog} isOpen again={() => undefined} />,
      fields: (path) => (path.endsWith("/cancel") ? {} : { answer: "w1-answer" }), part: (body) => only(body, "answer"),
    };
    case "resolution": return {
      shown: <Unknown run="r1" call="c1" session="s1" timeline={EMPTY} catalog={catalog} again={() => undefined} />,
      fields: (_, body): Record<string, string> => (at(body, "outcome") === "result" ? { result: "found-c1" } : at(body, "outcome") === "failed" ? { message: "found-c1" } : {}), part: (body) => only(body, "result", "message"),
    };
    case "conversation": return {
      shown: <Conversation agent="a" session="" catalog={catalog} again={() => undefined} />,
      fields: () => ({ message: "message", session: "session" }), part: (body) => only(body, "message", "session"),
    };
  }
}

/** Play with one form, and return what is wrong with what it sent; and how much it sent, and held back. */
export async function played(form: FormName, random: Random, steps: number): Promise<{ readonly faults: readonly string[]; readonly sent: number; readonly held: number }> {
  sessionStorage.clear();
  const schema = schemaOf(random) as JsonObject;
  const place = document.createElement("main");
  document.body.replaceChildren(place);
  let root: Root = createRoot(place);
  const { shown, fields, part } = drawn(form, schema, random);
  calls.answer = () => (random() < 0.7 ? undefined : { id: `c${String(random())}`, status: "ok", result: "done", next_arguments: documentOf(random) });
  const draw = () => act(async () => { root.render(shown); await Promise.resolve(); });
  await draw();
  for (let round = 0; round < 100 && place.querySelector("[aria-label^='Loading ']") !== null; round += 1) await act(() => new Promise((resolve) => setTimeout(resolve, 5))); // the code of the form
  const faults: string[] = [];
  let [count, held] = [0, 0];
  for (let step = 0; step < steps; step += 1) {
    const did = await act(async () => { const what = change(place, random); await Promise.resolve(); return what; });
    if (random() < 0.1) { // a reload, or a visit to another place
      await act(async () => { root.unmount(); await Promise.resolve(); });
      root = createRoot(place);
      await draw();
    }
    if (step % 2 !== 1) continue;
    let seen = allSeen(place);
    const decision = decisionIn(place);
    const isWrong = [...seen.values()].includes("wrong");
    const isSaid = place.querySelector(".fault") !== null;
    const say = (what: string, body = "") => { faults.push(`${form} ${what}: after ${did}, seen ${JSON.stringify([...seen])}, sent ${body}, schema ${JSON.stringify(schema)}`); };
    if (isWrong !== isSaid) say(isWrong ? "does not say that a field is wrong" : "says that a field is wrong that is not");
    sent.length = 0;
    const pressed = await act(async () => { const what = submit(place, random); await Promise.resolve(); return what; });
    await act(async () => { await new Promise((resolve) => setTimeout(resolve, 0)); });
    const isNext = pressed === "Next page"; // which fills the form before it sends
    if (isNext) seen = allSeen(place);
    if ((isNext ? [...seen.values()].includes("wrong") : isWrong) && sent.length > 0) say("sends while a field is wrong", sent[0]?.body);
    if (sent.length > 1) say("sends twice", JSON.stringify(sent));
    for (const { path, body } of sent) {
      const read = body === "" ? {} : exact(body);
      const approving = at(at(read, "answer"), "grant") === undefined ? "Approve exactly this" : "Approve this and further calls";
      const decided = form === "approval" ? (at(at(read, "answer"), "approved") === true ? approving : "Deny") : form === "question" ? (path.endsWith("/cancel") ? "Cancel the call" : "Answer") : form === "resolution" ? at(read, "outcome") : undefined;
      if (typeof decided === "string" && decided !== (decision ?? pressed)) say(`decides ${decided} where a person chose ${decision ?? pressed}`, body);
      const whole = Object.entries(fields(path, read)).flatMap(([name, id]): [string, Exact][] => {
        const one: Displayed | undefined = seen.get(id);
        return one === undefined || one === "wrong" || one.value === undefined || (one.value === "" && name !== "answer" && name !== "arguments") ? [] : [[name, one.value]];
      });
      if (!same(part(read), Object.fromEntries(whole)) && !isWrong) say("sends what is not seen", body);
    }
    count += sent.length;
    held += isWrong ? 1 : 0;
  }
  await act(async () => { root.unmount(); await Promise.resolve(); });
  return { faults, sent: count, held };
}

/** What each field that stands in no other one shows, by its id. */
function allSeen(place: Element): Map<string, Displayed> {
  const fields = [...place.querySelectorAll(".field")].filter((field) => field.parentElement?.closest(".field") === null);
  return new Map(fields.map((field) => [field.getAttribute("data-id") ?? "", seenIn(field)]));
}

const OUTCOMES: Readonly<Record<string, string>> = { "It ran, and has a result": "result", "It failed": "failed", "It did not run": "not_run", "It did not run: try it again": "not_run" };

/** What a person says of a lost call, as a request names it; undefined elsewhere. */
function decisionIn(place: Element): string | undefined {
  const chosen = place.querySelector(".choice input:checked")?.closest("label")?.textContent.trim();
  return chosen === undefined ? undefined : OUTCOMES[chosen];
}

const ANY_TEXT = new Set(["session", "message", "w1-reason"]);

/** What a field shows; a field for a text shows nothing else. */
function seenIn(field: Element): Displayed {
  const seen = displayed(field);
  const isText = ANY_TEXT.has(field.getAttribute("data-id") ?? "") || (field.getAttribute("data-id") === "found-c1" && field.querySelector(".label")?.textContent.startsWith("Why") === true);
  return isText && seen !== "wrong" && seen.value !== undefined && typeof seen.value !== "string" ? "wrong" : seen;
}

/** Change something that a person can change; return what. */
function change(place: Element, random: Random): string {
  const inputs = [...place.querySelectorAll<HTMLInputElement>("input:not([type=radio]):not([type=checkbox]):not([type=file]), textarea")];
  const others = [...place.querySelectorAll<HTMLElement>(".form input[type=radio], .form input[type=checkbox], .form select, .form button, .field button, .field input[type=checkbox], .choice input, [aria-label=Arguments] > .row button:not(.primary), p button")].filter((one) => !one.hasAttribute("disabled"));
  if (inputs.length + others.length === 0) return "nothing";
  const element = pick<HTMLElement>(random, random() < 0.6 || others.length === 0 ? (inputs.length > 0 ? inputs : others) : others);
  const name = element.getAttribute("id") ?? element.textContent;
  if (element instanceof HTMLSelectElement) return `chose ${write(element, HTMLSelectElement.prototype, pick(random, [...element.options]).value)} in ${name}`;
  if (element instanceof HTMLTextAreaElement) return `typed ${write(element, HTMLTextAreaElement.prototype, pick(random, TYPED))} into ${name}`;
  if (element instanceof HTMLInputElement && !["radio", "checkbox"].includes(element.type)) return `typed ${write(element, HTMLInputElement.prototype, pick(random, TYPED))} into ${name}`;
  element.click();
  return `clicked ${name}`;
}

/** Set the value of an input as a browser does, which React hears of. */
function write(element: HTMLElement, prototype: object, text: string): string {
  Object.getOwnPropertyDescriptor(prototype, "value")?.set?.call(element, text);
  element.dispatchEvent(new Event(element instanceof HTMLSelectElement ? "change" : "input", { bubbles: true }));
  return JSON.stringify(text);
}

/** Send in one of the ways that there are, perhaps twice; return the button that was pressed, "" for none. */
function submit(place: Element, random: Random): string {
  const buttons = [...place.querySelectorAll<HTMLButtonElement>("button.primary, button.danger")];
  const form = place.querySelector("form");
  const next = [...place.querySelectorAll("button")].filter((button) => button.textContent === "Next page");
  const ways: [string, () => void][] = [
    ...[...buttons, ...next].map((button): [string, () => void] => [button.textContent, () => { button.click(); }]),
    ["", () => { for (const isRepeated of [false, true]) window.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, repeat: isRepeated })); }],
    ...(form === null ? [] : [["", () => { form.requestSubmit(); }] satisfies [string, () => void]]),
  ];
  const [name, way] = pick(random, ways);
  way();
  if (random() < 0.3) way();
  return name;
}
