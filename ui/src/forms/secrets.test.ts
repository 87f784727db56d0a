/** What is kept in the storage of the tab has no sensitive value, wherever it was typed. */

import { beforeEach, describe, expect, it } from "vitest";
import type { AnyCall, Tool } from "../api/client";
import { historyOf, keepRequest, remember, requestOf } from "../tools/history";
import { draftOf, read, type Slot } from "./draft";
import { Shapes } from "./shape";

const SECRET = "s3cret-4111";
const card = { type: "object", properties: { kind: { const: "card" }, number: { type: "string" } }, required: ["kind", "number"] };
const cash = { type: "object", properties: { kind: { const: "cash" } }, required: ["kind"] };
const schema = {
  type: "object", additionalProperties: { type: "string" },
  properties: { user: { type: "string" }, pin: { type: "string" }, pay: { oneOf: [card, cash] }, keys: { type: "array", items: { type: "object", properties: { name: { type: "string" }, key: { type: "string" } } } }, map: { type: "object", additionalProperties: { type: "string" } }, whole: { type: "object" } },
};
const sensitive = ["/pin", "/pay/number", "/keys/*/key", "/map/*", "/whole"];
const tool: Tool = { id: "a.b.pay", name: "pay", service: "a", toolset: "b", kind: "function", payload: { name: "Pay", schema, sensitive } };
const shapes = new Shapes(schema);
const document = { user: "mira", pin: SECRET, pay: { kind: "card", number: SECRET }, keys: [{ name: "a", key: SECRET }], map: { a: SECRET }, whole: { deep: [SECRET] } };
const left = { user: "mira", pay: { kind: "card" }, keys: [{ name: "a" }], map: {} };
const stored = () => JSON.stringify(Object.entries(sessionStorage));

beforeEach(() => { sessionStorage.clear(); });

describe("a draft", () => {
  it("of a form keeps all but what is sensitive", () => {
    keepRequest(tool, { form: { slot: draftOf(shapes, shapes.root, document) }, text: null, session: { text: "s" } });
    expect(stored()).not.toContain(SECRET);
    const { form, session } = requestOf(tool.id);
    expect(read(shapes, form?.slot ?? null, "f")).toMatchObject({ ok: false }); // the key of the map has no value any more
    expect(JSON.stringify(form)).toContain("mira");
    expect(session).toEqual({ text: "s" });
  });
  it("keeps nothing sensitive of a field that is edited as JSON", () => {
    for (const slot of [{ json: JSON.stringify(document) }, { fields: { pay: { json: `{"number": "${SECRET}"}` }, keys: { json: `[{"key": "${SECRET}"` } }, more: [{ key: "pin", of: { text: SECRET } }] }, { fields: { pin: { json: SECRET } }, more: [] }] satisfies Slot[]) {
      keepRequest(tool, { form: { slot }, text: null, session: null });
      expect(stored()).not.toContain(SECRET);
    }
  });
  it("as JSON keeps what is left of the document, and nothing of what cannot be read", () => {
    keepRequest(tool, { form: null, text: JSON.stringify(document), session: null });
    expect(JSON.parse(requestOf(tool.id).text ?? "")).toEqual(left);
    for (const text of [`{"pin": "${SECRET}"`, `{"pin": "${SECRET}", "pin": 1}`, `["${SECRET}"]`]) {
      keepRequest(tool, { form: null, text, session: null });
      expect(stored()).not.toContain(SECRET);
    }
  });
  it("of a tool without sensitive arguments is kept as it was typed", () => {
    const open = { ...tool, payload: { name: "Pay", schema } };
    keepRequest(open, { form: null, text: "{ not yet", session: null });
    expect(requestOf(tool.id).text).toBe("{ not yet");
  });
});

it("the history of calls has no sensitive argument", () => {
  remember(tool, { at: 1, arguments: document, call: { id: "c", status: "ok" } as AnyCall, tookMs: 1 });
  expect(stored()).not.toContain(SECRET);
  expect(historyOf(tool.id)[0]?.arguments).toEqual(left);
});
