/** Where a person decides, nothing that a model, a tool or a schema says is hidden, or shown in another order. */

import "./recorder";
import { act, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { expect, it } from "vitest";
import type { AnyCall, RuntimeEvent, Tool, Suspension } from "../api/client";
import { HIDDEN } from "../kit/escape";
import { ResultPanel } from "../results/ResultPanel";
import { added, EMPTY } from "../runs/timeline";
import { TimelineView } from "../runs/TimelineView";
import { ToolPage } from "../tools/ToolPage";
import { WaitPanel } from "../waits/WaitPanel";
import WaitsPlace from "../waits/WaitsPlace";

const TEXT = "backup.tar \u202e gz.ssecca\u202c \u2066\u200b\u{e0041}\\u202e";
const SHOWN = "backup.tar \\u202e gz.ssecca\\u202c \\u2066\\u200b\\udb40\\udc41\\\\u202e";
const schema = { type: "object", title: TEXT, properties: { [TEXT]: { type: "string", title: TEXT, description: TEXT }, choice: { enum: [TEXT, "b"] }, map: { type: "object", additionalProperties: { type: "string" } } }, required: [TEXT] };
const tool: Tool = { id: `a.b.${TEXT}`, name: TEXT, service: "a", toolset: TEXT, title: TEXT, description: TEXT, kind: "function", tags: [TEXT], payload: { name: TEXT, schema, examples: [{ [TEXT]: TEXT, map: { [TEXT]: TEXT } }] } };
const catalogue = { catalog: { design: TEXT }, tools: [tool] };
const wait = { id: "w", run_id: "r", kind: "confirmation", seal: "sealed", question: TEXT, preview: TEXT, requested_by: TEXT, agent: TEXT, session_id: TEXT, tool: TEXT, arguments: { [TEXT]: TEXT }, answer_schema: { type: "object", properties: { approved: { type: "boolean" }, payload: schema } } } as unknown as Suspension;
const events = [{ type: "tool_start", seq: 1, time: 1, tool_call_id: "c", name: TEXT, text: TEXT }, { type: "approval_requested", seq: 2, time: 2, name: TEXT, question: TEXT }, { type: "assistant_reply", seq: 3, time: 3, text: TEXT }] as unknown as RuntimeEvent[];
const call = { id: "c", status: "ok", result: { [TEXT]: TEXT, rows: [{ [TEXT]: TEXT, deep: { [TEXT]: [TEXT] }, constructor: TEXT }, {}], list: [TEXT] }, display: TEXT, suspensions: [wait], trace: [] } as unknown as AnyCall;
const failed = { id: "c", status: "error", error: { code: TEXT, message: TEXT, issues: [{ path: TEXT, pointer: "", constraint: "c", message: TEXT }] } } as unknown as AnyCall;
const waits = { value: { suspensions: [wait] }, error: undefined, again: () => undefined };

it.each<[string, ReactNode]>([
  ["an approval", <WaitPanel key="" wait={wait} catalogue={catalogue} isOpen again={() => undefined} />],
  ["the list of waits", <WaitsPlace key="" catalogue={catalogue} address={{ place: "waits", parts: [], query: {} }} waits={waits} />],
  ["a timeline", <TimelineView key="" timeline={events.reduce(added, EMPTY)} />],
  ["a result", <ResultPanel key="" call={call} tookMs={1} />],
  ["a failure", <ResultPanel key="" call={failed} tookMs={1} />],
  ["the form of a tool", <ToolPage key="" tool={tool} catalogue={catalogue} address={{ place: "tools", parts: [tool.id], query: {} }} />],
  ["the schema of a tool", <ToolPage key="" tool={tool} catalogue={catalogue} address={{ place: "tools", parts: [tool.id], query: { tab: "schema" } }} />],
])("in %s", async (_, drawn) => {
  const place = document.createElement("main");
  document.body.replaceChildren(place);
  const root = createRoot(place);
  await act(async () => { root.render(drawn); await Promise.resolve(); });
  for (const one of [...place.querySelectorAll<HTMLElement>("[role=tab], [role=listitem] button, .row button")]) {
    if (/Tree|reads|Example$|backup/.test(one.textContent)) await act(async () => { one.click(); await Promise.resolve(); });
    const named = [...place.querySelectorAll("[title], [aria-label]")].flatMap((element) => [element.getAttribute("title") ?? "", element.getAttribute("aria-label") ?? ""]);
    const typed = [...place.querySelectorAll<HTMLInputElement>("input, textarea, select")].map((element) => element.value);
    const hidden = [place.textContent.replaceAll("\n", ""), ...named, ...typed.map((text) => text.replaceAll("\n", ""))].filter((text) => HIDDEN.test(text));
    expect(hidden).toEqual([]);
  }
  expect(place.textContent).toContain(SHOWN);
  await act(async () => { root.unmount(); await Promise.resolve(); });
});
