/** A validator that interprets schemas: nothing is compiled, so no `unsafe-eval` is needed. */

import { Validator } from "@cfworker/json-schema";
import type { RJSFSchema, ValidationData, ValidatorType } from "@rjsf/utils";

function accepts(schema: RJSFSchema, root: RJSFSchema, document: unknown): boolean {
  try {
    const { $defs, types } = root as { $defs?: unknown; types?: unknown };
    const alone = { ...schema, ...($defs === undefined ? {} : { $defs }), ...(types === undefined ? {} : { types }) };
    return new Validator(alone as object, "2020-12").validate(document).valid;
  } catch {
    return false; // by the contract of ValidatorType: an invalid schema accepts nothing
  }
}

/** Says which branch fits; issues come from the server, which judges alone. */
export const validator: ValidatorType = {
  isValid: (schema, document, root) => accepts(schema, root, document),
  rawValidation: () => ({ errors: [] }),
  validateFormData: <T,>(): ValidationData<T> => ({ errors: [], errorSchema: {} }),
};

export default validator;

/** The first branch that a document fits, else one whose constants it has; -1 for none. */
export function branchOf(options: readonly RJSFSchema[], root: RJSFSchema, document: unknown): number {
  if (document === undefined) return -1;
  const fitting = options.findIndex((option) => accepts(option, root, document));
  if (fitting >= 0) return fitting;
  if (typeof document !== "object" || document === null) return -1;
  return options.findIndex((option) => {
    const pinned = Object.entries(option.properties ?? {}).filter(([, property]) => typeof property === "object" && property.const !== undefined);
    return pinned.length > 0 && pinned.every(([name, property]) => (property as RJSFSchema).const === (document as Record<string, unknown>)[name]);
  });
}
