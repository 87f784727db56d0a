/** Two values, or two properties, never look the same. */

import "./recorder";
import { act, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { expect, it } from "vitest";
import { DocumentForm } from "../forms/DocumentForm";
import { startOf } from "../forms/draft";
import { Shapes } from "../forms/shape";
import { ValueTable, type Json } from "../kit/values";

async function textOf(drawn: ReactNode): Promise<string> {
  const place = document.createElement("main");
  document.body.replaceChildren(place);
  const root = createRoot(place);
  await act(async () => { root.render(drawn); await Promise.resolve(); });
  const text = [...place.querySelectorAll(".label, td, pre")].map((one) => one.textContent).join("\n");
  await act(async () => { root.unmount(); await Promise.resolve(); });
  return text;
}

it("in a table", async () => {
  const values: Json[] = [1, "1", true, "true", null, "null", "", "–", '"a"', "a", { a: 1 }, '{"a":1}', [], "[]", "\\n", "\n", "a\\u202e", "a\u202e"];
  const shown: string[] = [];
  for (const value of values) shown.push(await textOf(<ValueTable value={[{ value, other: 1 }, { other: 1 }]} />));
  expect(new Set(shown).size).toBe(values.length);
});

it("in a form whose titles are those of others", async () => {
  const shapes = new Shapes({ type: "object", required: ["from", "to", "note"], properties: { from: { type: "string", title: "to" }, to: { type: "string", title: "from" }, note: { type: "string", title: "Note" } } });
  const text = await textOf(<DocumentForm id="f" name="f" shapes={shapes} draft={startOf(shapes, shapes.root)} entered={{ ok: true, value: {}, faults: new Map() }} issues={[]} change={() => undefined} />);
  expect(text).toBe("to from\nfrom to\nNote");
});
