"""The diagnostics of types, their constraints and their values; rows of the table in `codes`."""

from __future__ import annotations

from typing import Final

from .rule import Rule

UNKNOWN_TYPE: Final = Rule(
    "unknown-type",
    "{what} refers to the type {name!r}, which the design does not have",
    "{hint}",
    "A type in quotes refers to a type by name. The design must use or list that type.",
)
CONSTRAINT_MISMATCH: Final = Rule(
    "constraint-mismatch",
    "{keyword!r} of {what} does not apply to {type}",
    "{hint}",
    "Each type accepts its own constraints. String, ArrayOf and MapOf accept lengths. Int, Float, Date, "
    "DateTime, Duration and Decimal accept bounds. Int, Float, Duration and Decimal accept "
    "`multiple_of`, ArrayOf accepts `unique_items`, String accepts `pattern` and `format`, String and "
    "Int accept `enum`. An `enum` cannot be combined with another constraint, nor `pattern` with "
    "`format`.",
)
BAD_CONSTRAINT: Final = Rule(
    "bad-constraint",
    "{keyword!r} of {what} is {value}, not {wanted}",
    "{hint}",
    "Lengths are integers from 0, bounds of an Int are integers, and bounds of a Float are finite. "
    "Bounds of dates, durations and decimals are values of their Python class, and those of an instant "
    "have a time zone. `multiple_of` is above 0.",
)
EMPTY_RANGE: Final = Rule(
    "empty-range",
    "{low} and {high} of {what} allow no value",
    "{hint}",
    "No value satisfies all constraints of the type.",
)
EMPTY_ENUM: Final = Rule(
    "empty-enum",
    "enum {what} has no values",
    "list the allowed values, such as {example}",
    "An enumeration needs at least one value.",
)
DUPLICATE_ENUM_VALUE: Final = Rule(
    "duplicate-enum-value",
    "value {value} is listed twice in {what}",
    "remove one of them",
    "The values of an enumeration differ from each other.",
)
BAD_ENUM_VALUE: Final = Rule(
    "bad-enum-value",
    "value {value} of {what} is not {wanted}",
    "{hint}",
    "The values of an enumeration are all strings or all integers, like its type.",
)
BAD_PATTERN: Final = Rule(
    "bad-pattern",
    "pattern {pattern!r} of {what} {fault}",
    "use only classes `[a-z]`, groups `(?:…)`, quantifiers and anchors",
    "A pattern must mean the same in JSON Schema (ECMA-262) and in the codec (Rust's regex). "
    "Look-around, back-references, named groups and Unicode properties do not.",
)
UNKNOWN_FORMAT: Final = Rule(
    "unknown-format",
    "format {format!r} of {what} is unknown",
    "{hint}",
    "A String can have the format `email`, `hostname`, `ipv4` or `ipv6`. Dates, durations, UUIDs and "
    "URLs have types of their own.",
)
DEFAULT_OUT_OF_RANGE: Final = Rule(
    "default-out-of-range",
    "default {default} of {name!r} is {side} its {bound} {limit}",
    "{hint}",
    "A default must satisfy the bounds of its own type.",
)
DEFAULT_NOT_IN_ENUM: Final = Rule(
    "default-not-in-enum",
    "default {default} of {name!r} is not one of {values}",
    "{hint}",
    "A default must be one of the values of its enumeration.",
)
DEFAULT_MISMATCH: Final = Rule(
    "default-mismatch",
    "default {default} of {name!r} does not fit its type: {issues}",
    "{hint}",
    "A default must be a valid value of its own type.",
)
REQUIRED_DEFAULT: Final = Rule(
    "required-default",
    "attribute {name!r} is required and has a default",
    "remove required, or remove default={default}: a required attribute is always present",
    "A default applies if an attribute is absent. A required attribute is never absent.",
)
EXAMPLE_MISMATCH: Final = Rule(
    "example-mismatch",
    "example of {what} does not fit: {issues}",
    "change the example, or the type that it is an example of",
    "Models read examples, so toolgen validates them against the schema of what they show.",
)
BAD_UNION: Final = Rule(
    "bad-union",
    "union {what} {fault}",
    "{hint}",
    "A `OneOf` has at least one branch, its branches are objects, and no branch has an attribute with the "
    "name of the tag.",
)
INFINITE_TYPE: Final = Rule(
    "infinite-type",
    "type {name!r} has no finite value: it requires {path}",
    "remove required=True from {attributes}, or write an ArrayOf, which can be empty",
    "A required attribute that leads back to its own type requires a value inside a value without end.",
)
NOT_AN_OBJECT: Final = Rule(
    "not-an-object",
    "{what} must be an object, not {type}",
    "{hint}",
    "Arguments, results and artifacts are objects: you can add attributes to them later, and every "
    "provider accepts them.",
)
MIXED_TYPE_AND_ATTRIBUTES: Final = Rule(
    "mixed-type-and-attributes",
    "type {name!r} is combined with other children in {what}",
    "move the attributes into the type, or write all attributes here",
    "`Args`, `Return`, `Payload` and `Result` contain attributes, or one `Type` instead.",
)
MAP_KEY: Final = Rule(
    "map-key",
    "map {what} has the keys {type}, not String",
    "write MapOf(String, …); a String can have a length, a pattern or a format",
    "The keys of a JSON object are strings.",
)
UNKNOWN_REQUIRED: Final = Rule(
    "unknown-required",
    "Required names {name!r}, which {where} does not have",
    "{hint}",
    "`Required` names attributes of the same object.",
)
UNREADABLE_SCHEMA: Final = Rule(
    "unreadable-schema",
    "the JSONSchema of {what} cannot be read: {fault}",
    "{hint}",
    "A path in `JSONSchema` is relative to the folder of the design's file, and leads to one JSON document.",
)
BAD_SCHEMA: Final = Rule(
    "bad-schema",
    "the JSONSchema of {what} {fault} ({pointer})",
    "{hint}",
    "A third-party schema must be valid in its dialect, draft-07 or 2020-12, and self-contained: its "
    "references lead to places inside it. Arguments are an object. The place is a JSON Pointer (RFC "
    "6901) into the schema.",
)
DEFAULT_IN_SCHEMA: Final = Rule(
    "default-in-schema",
    "the JSONSchema of {what} has a default that {fault} ({pointer})",
    "{hint}",
    "JSON Schema treats a default as a note for readers, and many schemas contain one that they reject. "
    "It stays in the catalog as it was written, and an absent value stays absent.",
    is_warning=True,
)
REPAIRED_SCHEMA: Final = Rule(
    "repaired-schema",
    "the JSONSchema of {what} has a value that {fault} ({pointer})",
    "{hint}",
    "Some schemas violate JSON Schema, or follow an older draft, in a place that has one sensible "
    "meaning: a bound of draft-04, a null for an absent value, a name twice in `required`. toolgen "
    "reads them with that meaning.",
    is_warning=True,
)
WHOLE_SCHEMA: Final = Rule(
    "whole-schema",
    "{clause} of tool {tool!r} needs a field of a JSONSchema, whose fields are opaque to clauses",
    "{hint}",
    "toolgen does not change a `JSONSchema`: none of its fields can be injected, bound to a method, or "
    "added. If clauses can express it, import it as clauses with `toolgen import jsonschema`.",
)
