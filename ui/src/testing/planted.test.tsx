/** Fields that keep what is wrong to themselves, so that the form sends without it, or what stood there before: the play with forms finds both. */

import { beforeEach, describe, expect, it, vi } from "vitest";
import type * as Drafts from "../forms/draft";
import type { Draft, Entered, Slot } from "../forms/draft";
import type { Shapes } from "../forms/shape";
import { FORMS, played } from "./play";
import { randomOf } from "./displayed";

const planted = vi.hoisted(() => ({ how: "without", before: undefined as Slot | undefined }));

vi.mock("../forms/draft", async (original) => {
  const own = await original<typeof Drafts>();
  const read = (shapes: Shapes, slot: Slot, id: string): Entered => {
    const entered = own.read(shapes, slot, id);
    if (entered.ok) planted.before = slot;
    if (entered.ok) return entered;
    return own.read(shapes, planted.how === "before" ? (planted.before ?? null) : without(slot), id);
  };
  /** A draft without what is wrong in it. */
  const without = (slot: Slot): Slot => {
    if (slot === null) return null;
    if ("json" in slot) return own.readJSON(slot.json, "").ok ? slot : null;
    if ("fields" in slot) {
      const fields = Object.entries(slot.fields).flatMap(([name, one]): [string, Draft][] => { const left = without(one); return left === null ? [] : [[name, left]]; });
      return { fields: Object.fromEntries(fields), more: slot.more.map((one) => ({ ...one, of: without(one.of) })) };
    }
    return "branch" in slot ? { ...slot, of: without(slot.of) } : slot;
  };
  return { ...own, read };
});

/** How many schemas are played with until a form is found to send what is not seen; -1 for never. */
async function found(form: (typeof FORMS)[number]): Promise<number> {
  for (let seed = 1; seed <= 60; seed += 1) {
    const { faults } = await played(form, randomOf(seed * 7919 + FORMS.indexOf(form)), 8);
    if (faults.some((fault) => fault.includes("sends while a field is wrong"))) return seed;
  }
  return -1;
}

describe.each(["without", "before"] as const)("a form that sends what is wrong as what is %s", (how) => {
  beforeEach(() => { planted.how = how; planted.before = undefined; });
  it.each(["call", "approval", "question"] as const)("is found in a %s", { timeout: 600_000 }, async (form) => {
    expect(await found(form)).toBeGreaterThan(0);
  });
});
