/** Which branch a document belongs to, by a validator that interprets schemas: nothing is compiled, so no `unsafe-eval` is needed. */

import { Validator } from "@cfworker/json-schema";
import { pinsOf, type FormObject } from "../../../toolgen/templates/typescript/forms";
import { isObject, type Json } from "../kit/values";

function accepts(schema: FormObject, root: FormObject, document: Json): boolean {
  try {
    const { $defs, definitions } = root;
    const alone = { ...schema, ...($defs === undefined ? {} : { $defs }), ...(definitions === undefined ? {} : { definitions }) };
    return new Validator(alone, "2020-12").validate(document).valid;
  } catch {
    return false; // an invalid schema accepts nothing
  }
}

/** The first branch that a document fits, else one whose constants it has; -1 for none. */
export function branchOf(options: readonly FormObject[], root: FormObject, document: Json): number {
  const fitting = options.findIndex((option) => accepts(option, root, document));
  if (fitting >= 0 || !isObject(document)) return fitting;
  return options.findIndex((option) => {
    const pinned = Object.entries(pinsOf(option));
    return pinned.length > 0 && pinned.every(([name, value]) => document[name] === value);
  });
}
