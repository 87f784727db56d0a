import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { alone, errorsOf, formats, formOf, settled } from "../../toolgen/templates/typescript/forms";
import { addressOf, parseAddress } from "./address";
import type { Issue, RuntimeEvent, Tool } from "./api/client";
import { placeOf } from "./forms/JSONEditor";
import { limitWords, typeWords } from "./forms/schema";
import { branchOf } from "./forms/validator";
import { duration } from "./kit/time";
import { order, type JsonObject } from "./kit/values";
import { visibleLines } from "./kit/escape";
import { outcomeOf } from "./runs/outcome";
import { added, EMPTY } from "./runs/timeline";
import { sameCall, shellQuoted } from "./tools/CodeTab";
import { behaviour, destroys, indexOf, search } from "./tools/search";
import { chartOf } from "./views/chart";
import { pictureOf } from "./views/ImageView";
import { harmless } from "./views/MarkdownView";

const tool: Tool = { id: "home.devices.set_state", name: "set_state", service: "home", toolset: "devices", title: "Set state", description: "Send one command.", kind: "function", tags: ["write"], annotations: { readOnlyHint: false, destructiveHint: true } };

describe("addresses", () => {
  it("keep every part and every filter", () => {
    const address = addressOf("tools", ["a/b c%"], { tab: "schema", q: "lamp & more" });
    expect(parseAddress(address)).toEqual({ place: "tools", parts: ["a/b c%"], query: { tab: "schema", q: "lamp & more" } });
  });
  it("are read where they are wrong", () => {
    expect(parseAddress("#/tools/%E0%A4%A").parts).toEqual(["%E0%A4%A"]);
    expect(parseAddress("").place).toBe("tools");
  });
});

describe("search", () => {
  it("finds every word anywhere, those in names first", () => {
    const other: Tool = { ...tool, id: "home.other.x", name: "x", title: "X", description: "set the state of nothing" };
    const rows = search(indexOf([other, tool]), "state set", "");
    expect(rows).toEqual([{ tool }, { tool: other }]);
    expect(search(indexOf([tool]), "lamp", "")).toEqual([]);
  });
  it("says what a call does, and destroys only what the author says", () => {
    expect(behaviour(tool)[0]).toEqual(["destroys", "bad"]);
    expect(behaviour({ ...tool, assumed_destructive: true })[0]).toEqual(["effects not declared", "waiting"]);
    expect([destroys(tool), destroys({ ...tool, assumed_destructive: true }), destroys({ ...tool, annotations: { destructiveHint: true, readOnlyHint: true } })]).toEqual([true, false, false]);
  });
});

describe("schemas", () => {
  const types = { Device: { type: "object", title: "Device", properties: { id: { type: "string" } } } };
  it("stand alone with the types of their catalog", () => {
    const schema = alone({ $ref: "#/types/Device" }, types);
    expect(schema["title"]).toBe("Device");
    const list = alone({ type: "array", items: { $ref: "#/$defs/Device" }, $defs: { Device: { $ref: "#/types/Device" } } }, types);
    expect(typeWords(list, list)).toBe("list of Device");
  });
  it("say their limits", () => { expect(limitWords({ minimum: 1, maximum: 100 })).toEqual(["at least 1", "at most 100"]); });
  it("are free where a form has nothing to show", () => {
    const properties = { a: {}, b: { type: "object", additionalProperties: {} }, c: { type: "array" }, d: { type: "string" }, e: { enum: [1] } };
    const { uiSchema } = formOf({ schema: { type: "object", properties } });
    expect(Object.keys(properties).filter((name) => name in uiSchema)).toEqual(["a", "b", "c"]);
  });
  it("choose no branch before a person does, and the one that a document belongs to", () => {
    const options = ["dim", "heat"].map((kind) => ({ type: "object" as const, properties: { kind: { const: kind }, level: { type: "integer" as const } }, required: ["kind", "level"] }));
    expect(branchOf(options, {}, {})).toBe(-1);
    expect(branchOf(options, {}, { kind: "heat" })).toBe(1);
    expect(branchOf(options, {}, { kind: "dim", level: 1 })).toBe(0);
  });
});

describe("forms", () => {
  const card = { type: "object", title: "Card", properties: { kind: { const: "card" }, number: { type: "string" } }, required: ["kind", "number"] };
  const cash = { type: "object", title: "Cash", properties: { kind: { const: "cash" }, coins: { type: "integer" } }, required: ["kind"] };
  const schema = {
    type: "object", required: ["pay", "name"], $defs: { Card: card },
    properties: { name: { type: "string", format: "email" }, limit: { type: "integer", default: 20 }, from: { type: "string", format: "date-time" }, pay: { type: "object", oneOf: [{ $ref: "#/$defs/Card" }, cash] } },
  };
  const form = formOf({ schema, sensitive: ["/pay/number"], noted_formats: ["/properties/name/format"] });
  it("say what a schema does not", () => {
    expect(form.schema).toMatchObject({ properties: { name: { type: "string" }, pay: { oneOf: [{ title: "–", not: {} }, {}, {}] } } });
    expect(form.schema["properties"]).toMatchObject({ name: { type: "string" }, limit: { type: "integer" } });
    expect(JSON.stringify(form.schema)).not.toMatch(/email|"default"/);
    expect(form.uiSchema).toMatchObject({
      from: { "ui:widget": "text" }, limit: { "ui:help": "Without it: 20" },
      pay: { oneOf: [{}, { kind: { "ui:widget": "hidden" }, number: { "ui:widget": "password" } }, {}] },
    });
    expect(JSON.stringify(form.uischema)).toContain('"scope":"#/properties/pay/oneOf/1/properties/number","options":{"format":"password"}');
  });
  it("read documents of others as the server does", () => {
    const given = { name: "n", limit: null, pay: { kind: "card", number: "7" } };
    expect(settled(form.schema, given)).toEqual({ name: "n", pay: given.pay });
    expect(settled(form.schema, { name: null, pay: given.pay })).toEqual({ name: null, pay: given.pay });
    expect(settled(form.schema, { name: "n", pay: { ...given.pay, kind: "cash" } }, given)).toEqual({ name: "n", pay: { kind: "cash" } });
    const same = { name: "n", pay: given.pay };
    expect(settled(form.schema, same)).toBe(same);
  });
  it("check formats as the server does", () => {
    const instants = ["2026-02-28T00:00:00Z", "2026-02-30T00:00:00Z", "2026-02-28T00:00:00", "2026-02-28 00:00:00Z", "0000-01-01T00:00:00Z", "2024-02-29T00:00:00+01:00"];
    expect(instants.map((text) => formats["date-time"]?.(text))).toEqual([true, false, false, false, false, true]);
  });
});

describe("issues", () => {
  it("stand at their fields and at their lines", () => {
    const issue: Issue = { path: "$.a[1]", pointer: "/a/1", constraint: "invalid_range", message: "must be at most 1" };
    expect(errorsOf([issue])).toEqual({ a: { 1: { __errors: ["must be at most 1"] } } });
    const text = '{\n "b": 0,\n "a": [1, 22]\n}';
    const place = placeOf(text, "/a/1");
    expect(text.slice(place.from, place.to)).toBe("22");
    const missing = placeOf(text, "/a/7");
    expect(text.slice(missing.from, missing.to)).toBe("[1, 22]");
  });
});

describe("source texts", () => {
  it("quote what a shell would run", () => { expect(shellQuoted("it's $(rm)")).toBe(`'it'\\''s $(rm)'`); });
  it("hide nothing, and are the text that is copied", () => {
    expect(shellQuoted("a\u202e'\\")).toBe(String.raw`$'a\342\200\256\'\\'`);
    for (const language of ["shell", "Python", "TypeScript", "curl"] as const) {
      const text = sameCall(language, { ...tool, id: "a.b.\u202e; rm" }, { a: "\u202e" }, "\u2066", "http://127.0.0.1/");
      expect(visibleLines(text)).toBe(text);
      expect(text).not.toContain("call a.b.");
    }
  });
  it("quote documents in each language", () => {
    const text = sameCall("Python", tool, { a: '"""\n' }, "s", "http://127.0.0.1/");
    expect(text).toContain(String.raw`json.loads("{\"a\":\"\\\"\\\"\\\"\\n\"}")`);
    expect(sameCall("TypeScript", tool, JSON.parse('{"__proto__": {"a": "__proto__"}}') as JsonObject, "", "/")).toContain('["__proto__"]: {\n      "a": "__proto__"');
  });
});

describe("timeline", () => {
  it("takes an event once, whatever is sent again", () => {
    const start = { type: "tool_start", seq: 2, time: 10, tool_call_id: "c", name: "ping" };
    const end = { type: "tool_end", seq: 3, time: 11, tool_call_id: "c", status: "ok", telemetry: { duration_s: 1 } };
    const twice = [start, end, start, end].reduce((line, event) => added(line, event as unknown as RuntimeEvent), EMPTY);
    expect(twice.calls).toBe(1);
    expect(twice.lines).toHaveLength(1);
    expect(twice.lines[0]).toMatchObject({ what: "ping", tone: "good", durationS: 1 });
  });
  it("say who granted a call", () => {
    const reason = "approved by mira at 2026-01-02 03:04:05 UTC";
    const fold = (grant_id: string) => added(EMPTY, { type: "tool_authorization", seq: 1, time: 1, tool: "x.disk.write", reason, grant_id } as unknown as RuntimeEvent).lines;
    expect(fold("grant_1").map((line) => [line.what, line.detail])).toEqual([["write may run", reason]]);
    expect(fold("")).toEqual([]);
  });
  it("takes a piece once, and none that comes after the whole", () => {
    const piece = (time: number, text: string) => ({ type: "assistant_reply", seq: 0, time, text, is_partial: true });
    const fold = (...events: object[]) => events.reduce<typeof EMPTY>((line, event) => added(line, event as RuntimeEvent), EMPTY);
    const [one, two] = [piece(1, "It "), piece(2, "is.")];
    expect(fold(one, two, one, two).saying).toBe("It is.");
    const whole = { type: "assistant_reply", seq: 4, time: 3, text: "It is." };
    expect(fold(one, whole, two)).toMatchObject({ saying: "", seq: 4 });
    expect(fold(one, { type: "plan_retry", seq: 5, time: 4, reason: "cut" }, piece(5, "It")).saying).toBe("It");
  });
  it("puts an event without a time behind the one before", () => {
    const events = [{ type: "run_started", seq: 1, time: 5 }, { type: "plan_retry", seq: 2, time: 7 }, { type: "run_completed", seq: 3, status: "canceled" }];
    expect(events.reduce<typeof EMPTY>((line, event) => added(line, event as RuntimeEvent), EMPTY).lines.map((line) => line.at)).toEqual([0, 2, 2]);
  });
  it("has a line for each intermediate result, and none for progress", () => {
    const update = (number: number) => ({ type: "tool_update", seq: number, time: number, tool_call_id: "c", number, value: { rows: number } });
    const lines = [update(0), update(1), update(2), update(1)].reduce<typeof EMPTY>((line, event) => added(line, event as unknown as RuntimeEvent), EMPTY).lines;
    expect(lines.map(({ what, detail }) => [what, detail])).toEqual([["intermediate result", '{"rows":1}'], ["intermediate result", '{"rows":2}']]);
  });
  it("is green only where every outcome is known", () => {
    const run = (status: string) => [{ type: "tool_start", seq: 1, time: 1, tool_call_id: "c", name: "completed" }, { type: "tool_end", seq: 2, time: 2, tool_call_id: "c", status }, { type: "run_completed", seq: 3, time: 3, status: "completed" }].reduce<typeof EMPTY>((line, event) => added(line, event as unknown as RuntimeEvent), EMPTY);
    expect(run("unknown").lines.map(({ what, isName, tone }) => [what, isName, tone])).toEqual([["completed", true, "bad"], ["completed", false, ""]]);
    expect(run("ok").lines.map((line) => line.tone)).toEqual(["good", "good"]);
    const outcomes = [{}, { unknown_calls: ["c"] }, { call_status: "error" }, { call_status: "unknown" }, { call_status: "suspended" }, { error: "damaged" }].map((facts) => outcomeOf({ id: "r", kind: "call", status: "completed", ...facts }));
    expect(outcomes).toEqual([["completed", "good"], ["unknown", "bad"], ["error", "bad"], ["resolved", ""], ["suspended", "waiting"], ["completed", "bad"]]);
  });
  it("says durations in two units at most", () => { expect([0.0295, 59, 601_200].map(duration)).toEqual(["30 ms", "59 s", "6 d 23 h"]); });
});

describe("what tools return", () => {
  it("is executed nowhere", () => {
    const html = harmless('<script>x</script><img src=x onerror=x><svg onload=x></svg>\n\n[a](javascript:x) [b](https://b.example) <p style="position:fixed" id=a>c</p>');
    expect(html).not.toMatch(/<(script|img|svg|p style)/);
    expect(html).toContain("&lt;script&gt;"); // HTML in Markdown is text
    expect(html).toContain('<a href="https://b.example" rel="noopener noreferrer" target="_blank">b</a>');
  });
  it("is a picture only where its type is one", async () => {
    const blob = pictureOf({ media_type: "image/png", data: "iVBORw0KGgoAAAANSUhEUg==" });
    expect(blob?.type).toBe("image/png");
    expect((await blob?.arrayBuffer())?.byteLength).toBe(16);
    expect(pictureOf("data:text/html;base64,PHNjcmlwdD4=")).toBeNull();
  });
  it("is a chart with time across where there is time", () => {
    const chart = chartOf({ unit: "°C", readings: [{ at: "2026-01-02T00:00:00Z", value: 2 }, { at: "2026-01-01T00:00:00Z", value: 1 }] });
    expect(chart).toMatchObject({ across: "at", isTime: true, unit: "°C", series: [{ name: "value", values: [1, 2] }] });
    expect(chartOf({ rows: [] })).toBeNull();
  });
  it("is sorted by value", () => { expect([10, 9, undefined, 1].sort(order)).toEqual([1, 9, 10, undefined]); });
});

describe("colours", () => {
  const css = readFileSync("src/tokens.css", "utf8");
  const roles = (block: string) => new Map([...block.matchAll(/--([a-z-]+): (#[0-9a-f]{6})/g)].map((match) => [match[1] ?? "", match[2] ?? ""]));
  const light = roles(css.slice(0, css.indexOf("[data-theme")));
  const dark = roles(css.slice(css.indexOf("[data-theme")));
  const pairs = ["ground", "panel", "sunk"].flatMap((ground) => ["ink", "muted"].map((text) => [text, ground] as const))
    .concat([["accent", "panel"], ["accent", "ground"], ["accent", "accent-soft"], ["on-accent", "accent"], ["waiting", "waiting-soft"], ["bad", "bad-soft"], ["bad", "panel"], ["planning", "planning-soft"]]);
  it.each([["light", light], ["dark", dark]] as const)("are readable in %s", (_, theme) => {
    for (const [text, ground] of pairs) expect(contrast(theme.get(text) ?? "", theme.get(ground) ?? ""), `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5);
  });
});

/** The ratio of WCAG 2.2, 1.4.3. */
function contrast(left: string, right: string): number {
  const [low = 0, high = 0] = [left, right].map(luminance).sort((one, other) => one - other);
  return (high + 0.05) / (low + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
