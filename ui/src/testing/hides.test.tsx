/** Nothing that a model, a tool, a peer or a schema says is hidden, or looks like another text, wherever the page shows it. */

import "./recorder";
import { act, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { expect, it } from "vitest";
import AgentsPlace from "../agents/AgentsPlace";
import type { AnyCall, Artifact, Catalog, Run, RuntimeEvent, Tool, Suspension } from "../api/client";
import { HIDDEN, visible } from "../kit/escape";
import MapPlace from "../map/MapPlace";
import { ResultPanel } from "../results/ResultPanel";
import RunsPlace from "../runs/RunsPlace";
import { added, EMPTY } from "../runs/timeline";
import { TimelineView } from "../runs/TimelineView";
import { Unknown } from "../runs/Unknown";
import { ToolPage } from "../tools/ToolPage";
import { ToolsPlace } from "../tools/ToolsPlace";
import { chartOf } from "../views/chart";
import MarkdownView from "../views/MarkdownView";
import { Grants } from "../suspensions/Grants";
import { SuspensionPanel } from "../suspensions/SuspensionPanel";
import SuspensionsPlace from "../suspensions/SuspensionsPlace";

const TEXT = "backup.tar \u202e gz.ssecca\u202c \u2066\u200b\u{e0041}\\u202e";
const SHOWN = "backup.tar \\u202e gz.ssecca\\u202c \\u2066\\u200b\\udb40\\udc41\\\\u202e";

/** Everything that the page can show, with a text wherever it takes one. */
function saying(text: string) {
  const schema = {
    type: "object", title: text,
    properties: { [text]: { type: "string", title: text, description: text, default: text, pattern: text }, choice: { enum: [text, "b"] }, titled: { oneOf: [{ const: 1, title: text }, { const: 2, title: "b" }] }, many: { enum: [text, "b", "c", "d", "e"] }, map: { type: "object", additionalProperties: { type: "string" } }, union: { oneOf: [{ type: "object", title: text, properties: { a: { const: text } } }, { type: "string" }] } },
    required: [text],
  };
  const tool: Tool = {
    id: `a.b.${text}`, name: text, service: text, toolset: text, toolset_title: text, title: text, description: text, kind: "function", tags: [text], inject: [text], agent: text, bind_to: { service: text, method: text },
    payload: { name: text, schema, examples: [{ [text]: text, map: { [text]: text } }] }, result: { name: text, schema }, errors: [{ name: text, description: text }], deprecated: { reason: text, replacement: text },
    artifacts: [{ kind: text, view: text, name: text, schema }],
  };
  const catalog: Catalog = { catalog: { design: text }, tools: [tool] };
  const suspension = { id: "w", run_id: "r", kind: "confirmation", seal: "sealed", question: text, preview: text, requested_by: text, agent: text, session_id: text, tool: text, arguments: { [text]: text }, answer_schema: { type: "object", properties: { approved: { type: "boolean" }, payload: schema } } } as unknown as Suspension;
  const run = { id: `r${text}`, kind: "agent", status: "completed", session_id: text, agent: text, tool: text, message: text, text, result: { [text]: text }, error: text, requested_by: text, unknown_calls: ["c"] } as unknown as Run;
  const events = [{ type: "run_started", seq: 1, time: 1, agent: text }, { type: "tool_start", seq: 2, time: 1, tool_call_id: "c", tool: tool.id, name: text, text, arguments: { [text]: text } }, { type: "approval_requested", seq: 3, time: 2, name: text, question: text }, { type: "assistant_reply", seq: 4, time: 3, text }, { type: "toolset_dropped", seq: 5, time: 4, toolset: text, reason: text }, { type: text, seq: 6, time: 5 }] as unknown as RuntimeEvent[];
  const artifact = { kind: text, media_type: "application/json", size: 1, digest: "d", data: { [text]: text }, not_stored_reason: text } as unknown as Artifact;
  const call = { id: "c", status: "ok", result: { [text]: text, rows: [{ [text]: text, deep: { [text]: [text] }, constructor: text }, {}], list: [text] }, display: text, suspensions: [suspension], artifacts: [artifact, { ...artifact, digest: "e", not_stored_reason: undefined }], warnings: [{ path: text, pointer: text, constraint: "invalid_type", message: text }], bounds: { returned: 1, truncated: true, refinement_hint: text }, trace: [{ step: text, duration_s: 1 }] } as unknown as AnyCall;
  const failed = { id: "c", status: "error", error: { code: text, message: text, correlation_id: text, details: { [text]: text }, issues: [{ path: text, pointer: "", constraint: "c", message: text }] } } as unknown as AnyCall;
  const timeline = events.reduce(added, EMPTY);
  const nothing = () => undefined;
  const suspensions = { value: { suspensions: [suspension] }, error: undefined, again: nothing };
  const lost = { value: [run], error: undefined, again: nothing, pages: 1, older: undefined };
  const session = { id: text, agent: text, created_at: 1, message: text };
  const turn = { run_id: run.id, turn_id: "t", agent: text, started_at: 1, messages: [{ type: "user", text, files: [{ name: text, media_type: text, size: 1, uri: "u", href: "h" }] }, { type: "assistant", text, calls: [{ id: "c", name: text, arguments: { [text]: text } }] }, { type: "tools", answers: [{ id: "c", name: text, status: "ok", result: { [text]: text } }] }] };
  const answers: Record<string, unknown> = { suspensions: { suspensions: [suspension] }, runs: { runs: [run] }, sessions: { sessions: [session] }, messages: { session, turns: [turn] }, run, suspension, grants: { grants: [{ id: text, tool: text, session_id: text, granted_by: text, granted_at: 1, expires_at: 2, uses: 1, used: 0, covers: text }] } };
  const address = (place: string, parts: readonly string[] = [], query: Readonly<Record<string, string>> = {}) => ({ place, parts, query });
  const places: Readonly<Record<string, ReactNode>> = {
    "an approval": <SuspensionPanel suspension={suspension} catalog={catalog} isOpen again={nothing} />,
    "a record that is not sealed": <SuspensionPanel suspension={{ ...suspension, seal: "tampered" }} catalog={catalog} isOpen again={nothing} />,
    "the list of suspended calls": <SuspensionsPlace catalog={catalog} address={address("suspensions")} suspensions={suspensions} lost={lost} newest={1} />,
    "the list of unknown outcomes": <SuspensionsPlace catalog={catalog} address={address("suspensions", [], { for: "word" })} suspensions={suspensions} lost={lost} newest={1} />,
    "the grants of a session": <Grants session={text} />,
    "a timeline": <TimelineView timeline={timeline} />,
    "a call of unknown outcome": <Unknown run="r" call="c" session={text} timeline={timeline} catalog={catalog} again={nothing} />,
    "a result": <ResultPanel call={call} tookMs={1} />,
    "a failure": <ResultPanel call={failed} tookMs={1} />,
    "the form of a tool": <ToolPage tool={tool} catalog={catalog} address={address("tools", [tool.id])} />,
    "the schema of a tool": <ToolPage tool={tool} catalog={catalog} address={address("tools", [tool.id], { tab: "schema" })} />,
    "the tools": <ToolsPlace catalog={catalog} address={address("tools", [text])} />,
    "the map": <MapPlace catalog={catalog} agents={[{ id: text, tools: [text] }]} />,
    "the runs": <RunsPlace catalog={catalog} address={address("runs", [run.id])} />,
    "a conversation": <AgentsPlace agents={[{ id: text, tools: [] }]} catalog={catalog} address={address("agents", [text, text])} suspensions={[suspension]} lost={[run]} />,
    "Markdown": <MarkdownView text={`${text}\n\n<script>${text}</script>`} />,
    "Markdown of HTML alone": <MarkdownView text={`<b>${text}</b>`} />,
  };
  return { places, answers };
}

const PLACES = Object.keys(saying("").places);

/** Draw a place, open all that it has, and return what each of its elements says; and all that was there at any time. */
async function drawn(name: string, text: string): Promise<readonly string[]> {
  sessionStorage.clear();
  const { places, answers } = saying(text);
  globalThis.fetch = (input) => {
    const path = decodeURIComponent((typeof input === "string" ? input : input instanceof URL ? input.href : input.url).split("?")[0] ?? "");
    const last = path.slice(path.lastIndexOf("/") + 1);
    if (last === "events") return Promise.resolve(new Response(null, { status: 204 }));
    return Promise.resolve(Response.json(answers[last] ?? (path.includes("/runs/") ? answers["run"] : answers["suspension"])));
  };
  const place = document.createElement("main");
  document.body.replaceChildren(place);
  const root = createRoot(place);
  const settle = () => act(async () => { await new Promise((resolve) => setTimeout(resolve, 0)); });
  await act(async () => { root.render(places[name]); await Promise.resolve(); });
  await settle();
  const heard: string[] = [];
  for (const selector of ["summary", "[role=listitem] button", ".row button", "[role=tab]", "[aria-expanded=false]"]) {
    const controls = [...place.querySelectorAll<HTMLElement>(selector)].filter((one) => !one.matches(".primary, .danger") && !/Call$|Cancel|Answer|Copy|Download/.test(one.textContent));
    for (const one of controls.filter((one) => selector === "[role=tab]" || one.isConnected)) {
      await act(async () => { one.click(); await Promise.resolve(); });
      heard.push(...said(place));
    }
  }
  heard.push(...said(place));
  await act(async () => { root.unmount(); await Promise.resolve(); });
  return heard;
}

/** Texts, names and values of elements, one by one. */
function said(place: Element): readonly string[] {
  const texts: string[] = [];
  const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) texts.push(node.nodeValue ?? "");
  const named = [...place.querySelectorAll("[title], [aria-label], [alt], [placeholder]")].flatMap((element) => ["title", "aria-label", "alt", "placeholder"].map((name) => element.getAttribute(name) ?? ""));
  const typed = [...place.querySelectorAll<HTMLInputElement>("input:not([type=radio]), textarea")].map((element) => element.value);
  return [...texts, ...named, ...typed];
}

it.each(PLACES)("in %s", async (name) => {
  const [real, twin] = [await drawn(name, TEXT), new Set(await drawn(name, visible(TEXT)))];
  expect(real.filter((text) => HIDDEN.test(text.replaceAll("\n", "")))).toEqual([]);
  expect(real.some((text) => text.includes(SHOWN)), real.join("\n")).toBe(true);
  expect(real.filter((text) => text.includes("ssecca") && twin.has(text))).toEqual([]); // another text looks otherwise
});

it("in a chart", () => {
  const chart = chartOf({ unit: TEXT, rows: [{ [TEXT]: 1, name: TEXT }] });
  expect([chart?.unit, chart?.series[0]?.name, chart?.labels[0]]).toEqual([SHOWN, SHOWN, SHOWN]);
});
