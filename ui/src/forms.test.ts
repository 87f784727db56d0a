/** Forms of schemas that nobody wrote in good faith: a page that strangers open makes one, and is not harmed. */

import { describe, expect, it } from "vitest";
import { errorsOf, formOf, settled, type FormObject } from "../../toolgen/templates/typescript/forms";

const NAMES = ["__proto__", "constructor", "toString", "hasOwnProperty", "prototype", "ui:widget", "ui:field", "items", "oneOf", "a.b", "a[0]", "a/b~c", "", "$ref", "–"];

/** An object as JSON has it: `__proto__` is a name like others. */
function json(text: string): FormObject {
  return JSON.parse(text) as FormObject;
}

describe("hostile names", () => {
  const properties = NAMES.map((name) => `${JSON.stringify(name)}: {"type": "string"}`).join(",");
  const schema = json(`{"type": "object", "properties": {${properties}}, "required": ["__proto__"]}`);
  it("are names of fields", () => {
    const form = formOf({ schema, sensitive: NAMES.map((name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`) });
    expect(Object.keys(form.schema["properties"] as object).sort()).toEqual([...NAMES].sort());
    expect(Object.getPrototypeOf(form.uiSchema)).toBe(Object.prototype);
    expect(Object.hasOwn(form.uiSchema, "__proto__")).toBe(true);
    expect(form.uiSchema).not.toHaveProperty(["ui:widget"]);
    expect(form.uischema).toEqual({ type: "Control", scope: "#", options: { json: true } }); // JSON Forms takes "a.b" for a path
    const document = json(`{"__proto__": null, "constructor": null, "toString": "x"}`);
    expect(JSON.stringify(settled(form.schema, document))).toBe(`{"__proto__":null,"toString":"x"}`);
  });
  it("change no object of the page, as pointers of issues", () => {
    const errors = errorsOf(NAMES.map((name) => ({ pointer: `/${name}/__proto__/x`, message: "m" })));
    expect(Object.keys(errors)).toContain("__proto__");
    expect({}).not.toHaveProperty("__errors");
    expect({}).not.toHaveProperty("x");
    expect(Object).not.toHaveProperty("__errors");
  });
  it("are no formats and no types of a catalog", () => {
    const { schema: same, uiSchema } = formOf({ schema: { type: "object", properties: { a: { type: "string", format: "constructor" }, b: { $ref: "#/types/__proto__" } } } }, { types: {} });
    expect(uiSchema).not.toHaveProperty("a");
    expect(same["properties"]).toHaveProperty("b");
  });
});

describe("references", () => {
  const node = (union: string, branch: FormObject) => ({
    $ref: "#/$defs/Node",
    $defs: { Node: { type: "object", properties: { kind: { const: "node" }, secret: { type: "string" }, next: { [union]: [branch, { type: "object", properties: { kind: { const: "leaf" } }, required: ["kind"] }] } }, required: ["kind"] } },
  });
  it.each(["oneOf", "anyOf"])("that lead back end in JSON", (union) => {
    const form = formOf({ schema: node(union, { $ref: "#/$defs/Node" }), sensitive: ["/secret", "/next/secret", "/next/next/secret"] });
    expect(JSON.stringify(form.uischema)).toContain(`"scope":"#/properties/next","options":{"json":true}`);
    expect(settled(form.schema, { kind: "node", next: null })).toEqual({ kind: "node" });
  });
  it("to themselves, alone or in a union, end", () => {
    const self = { $ref: "#/$defs/A", $defs: { A: { $ref: "#/$defs/A" } } };
    const union = { $ref: "#/$defs/A", $defs: { A: { anyOf: [{ $ref: "#/$defs/A" }, { $ref: "#/$defs/A" }, { type: "string" }] } } };
    for (const schema of [self, union, { $ref: "#" }, { type: "object", properties: { a: { $ref: "#" } } }])
      expect(settled(formOf({ schema, sensitive: ["/a", "", "/a/a/a/a"] }).schema, { a: null })).toBeDefined();
  });
  it("that double at each step are read so often, and no more", () => {
    const definitions = Object.fromEntries(Array.from({ length: 60 }, (_, at) => {
      const next = { $ref: `#/$defs/D${String(at + 1)}` };
      return [`D${String(at)}`, { type: "object", properties: { left: next, right: next, either: { oneOf: [next, next] } } }];
    }));
    const schema = { $ref: "#/$defs/D0", $defs: definitions };
    const form = formOf({ schema, sensitive: ["/left".repeat(50), "/either".repeat(50)] });
    expect(JSON.stringify(form.uischema).length).toBeLessThan(20_000_000);
  });
});

describe("large schemas", () => {
  it("of a thousand properties, branches and values, and a thousand deep, have a form", () => {
    const many = Array.from({ length: 1_000 }, (_, at) => `p${String(at)}`);
    const branches = many.map((name) => ({ type: "object", properties: { kind: { const: name }, [name]: { type: "integer" } }, required: ["kind"] }));
    const deep = many.reduce<FormObject>((inner, name) => ({ type: "object", properties: { [name]: inner } }), { type: "string" });
    const unions = many.slice(0, 200).reduce<FormObject>((inner) => ({ oneOf: [inner, { type: "integer" }] }), { type: "string" });
    const wide = Object.fromEntries(many.map((name) => [name, { type: "string", format: "date-time", default: name }]));
    const properties = { ...wide, union: { oneOf: branches }, deep, unions, choice: { enum: Array.from({ length: 100_000 }, (_, at) => at) } };
    const form = formOf({ schema: { type: "object", properties }, sensitive: many.map((name) => `/${name}`) });
    expect(Object.keys(form.uiSchema).length).toBeGreaterThan(1_000);
    expect(settled(form.schema, { union: { kind: "p7", p7: 1, p8: 2 }, p1: null }, { union: { kind: "p8", p8: 2 } })).toEqual({ union: { kind: "p7", p7: 1 } });
  });
});

describe("schemas of other dialects", () => {
  it("are read by a validator of 2020-12", () => {
    const { schema } = formOf({ schema: {
      $schema: "http://json-schema.org/draft-07/schema#", $id: "https://a.example/s", type: "object", required: ["n"],
      properties: {
        tuple: { type: "array", items: [{ type: "string" }], additionalItems: false }, old: { type: "number", minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
        ref: { allOf: [{ $ref: "https://a.example/s#/definitions/T" }, {}], description: "d" }, n: { $ref: "#/definitions/N" }, m: { $ref: "#/definitions/N" },
      },
      definitions: { T: { type: "string" }, N: { type: "integer", default: 3 } },
    } });
    expect(schema).toEqual({ type: "object", required: ["n"],
      properties: {
        tuple: { type: "array", prefixItems: [{ type: "string" }], items: false }, old: { type: "number", minimum: 0, exclusiveMinimum: 0, maximum: 9 },
        ref: { $ref: "#/definitions/T", description: "d" }, n: { $ref: "#/definitions/N", default: 3 }, m: { $ref: "#/definitions/N" },
      },
      definitions: { T: { type: "string" }, N: { type: "integer" } },
    });
  });
});
