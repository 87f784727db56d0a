/** Nothing is sent that is not seen, and nothing while a field is wrong: 1,000 random schemas, in each form of the page. */

import { describe, expect, it } from "vitest";
import { FORMS, played } from "./play";
import { randomOf } from "./displayed";

const SCHEMAS = 200; // of each form
const STEPS = 6;

describe.each(FORMS)("the form of a %s", (form) => {
  it("sends what it shows", { timeout: 600_000 }, async () => {
    let [count, held] = [0, 0];
    for (let seed = 1; seed <= SCHEMAS; seed += 1) {
      const result = await played(form, randomOf(seed * 7919 + FORMS.indexOf(form)), STEPS);
      expect(result.faults.slice(0, 1)).toEqual([]);
      count += result.sent;
      held += result.held;
    }
    expect(count).toBeGreaterThan(SCHEMAS / 20);
    expect(held).toBeGreaterThan(SCHEMAS / 20);
  });
});
