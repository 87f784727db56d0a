"""The diagnostics of types, their constraints and their values; rows of the table in `codes`."""

from __future__ import annotations

from typing import Final

from .rule import Rule

UNKNOWN_TYPE: Final = Rule(
    "unknown-type",
    "{what} refers to the type {name!r}, which the design does not have",
    "{hint}",
    "A type in quotes is found by its name among the types that the design uses or lists.",
)
CONSTRAINT_MISMATCH: Final = Rule(
    "constraint-mismatch",
    "{keyword!r} of {what} does not go with {type}",
    "{hint}",
    "Each type takes constraints of its own. String, ArrayOf and MapOf take lengths. Int, Float, Date, "
    "DateTime, Duration and Decimal take bounds. Int, Float, Duration and Decimal take `multiple_of`, "
    "ArrayOf takes `unique_items`, String takes `pattern` and `format`, String and Int take `enum`. An "
    "`enum` cannot be combined with another constraint, nor `pattern` with `format`.",
)
BAD_CONSTRAINT: Final = Rule(
    "bad-constraint",
    "{keyword!r} of {what} is {value}, not {wanted}",
    "{hint}",
    "Lengths are whole numbers from 0, bounds of an Int are whole numbers, bounds of a Float are finite, "
    "bounds of dates, durations and decimals are of their Python type, an instant with its time zone, "
    "`multiple_of` is above 0.",
)
EMPTY_RANGE: Final = Rule(
    "empty-range",
    "{low} and {high} of {what} leave no value",
    "{hint}",
    "The constraints of a type leave no value that satisfies them all.",
)
EMPTY_ENUM: Final = Rule(
    "empty-enum",
    "enum {what} has no values",
    "list the values that are allowed, such as {example}",
    "An enumeration needs at least one value.",
)
DUPLICATE_ENUM_VALUE: Final = Rule(
    "duplicate-enum-value",
    "value {value} stands twice in {what}",
    "remove one of them",
    "The values of an enumeration are different from each other.",
)
BAD_ENUM_VALUE: Final = Rule(
    "bad-enum-value",
    "value {value} of {what} is not {wanted}",
    "{hint}",
    "The values of an enumeration are all strings or all whole numbers, those of its type.",
)
BAD_PATTERN: Final = Rule(
    "bad-pattern",
    "pattern {pattern!r} of {what} {fault}",
    "write it with classes `[a-z]`, groups `(?:…)`, quantifiers and anchors alone",
    "A pattern means the same in the JSON Schema (ECMA-262) and in the codec (Rust's regex). Look-around, "
    "back-references, named groups and Unicode properties do not.",
)
UNKNOWN_FORMAT: Final = Rule(
    "unknown-format",
    "format {format!r} of {what} is unknown",
    "{hint}",
    "A String may have the format `email`, `hostname`, `ipv4` or `ipv6`. Dates, durations, identifiers "
    "and addresses are types of their own.",
)
DEFAULT_OUT_OF_RANGE: Final = Rule(
    "default-out-of-range",
    "default {default} of {name!r} is {side} its {bound} {limit}",
    "{hint}",
    "A default satisfies the bounds of its own type.",
)
DEFAULT_NOT_IN_ENUM: Final = Rule(
    "default-not-in-enum",
    "default {default} of {name!r} is none of {values}",
    "{hint}",
    "A default is one of the values of its enumeration.",
)
DEFAULT_MISMATCH: Final = Rule(
    "default-mismatch",
    "default {default} of {name!r} does not fit its type: {issues}",
    "{hint}",
    "A default is a value of its own type, with everything that the type asks for.",
)
REQUIRED_DEFAULT: Final = Rule(
    "required-default",
    "attribute {name!r} is required and has a default",
    "remove required, or remove default={default}: what is always there needs none",
    "A default says what an absent attribute means; a required one is never absent.",
)
EXAMPLE_MISMATCH: Final = Rule(
    "example-mismatch",
    "example of {what} does not fit: {issues}",
    "change the example, or what it is an example of",
    "Examples are shown to models and are checked against the schema of what they show.",
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
    "remove required=True from {attributes}, or write an ArrayOf, which may be empty",
    "A required attribute that leads back to its own type asks for a value inside a value without end.",
)
NOT_AN_OBJECT: Final = Rule(
    "not-an-object",
    "{what} must be an object, not {type}",
    "{hint}",
    "Arguments, results and artifacts are objects: they can grow an attribute later, and every provider "
    "takes them.",
)
MIXED_TYPE_AND_ATTRIBUTES: Final = Rule(
    "mixed-type-and-attributes",
    "type {name!r} does not stand alone in {what}",
    "put the attributes into the type, or write all attributes here",
    "`Args`, `Return`, `Payload` and `Result` hold attributes, or one `Type` in their place.",
)
MAP_KEY: Final = Rule(
    "map-key",
    "map {what} has the keys {type}, not String",
    "write MapOf(String, …); a String may carry length, pattern or format",
    "The keys of a JSON object are strings.",
)
UNKNOWN_REQUIRED: Final = Rule(
    "unknown-required",
    "Required names {name!r}, which {where} does not have",
    "{hint}",
    "`Required` names attributes that stand beside it.",
)
UNREADABLE_SCHEMA: Final = Rule(
    "unreadable-schema",
    "the JSONSchema of {what} cannot be read: {fault}",
    "{hint}",
    "A path in `JSONSchema` is seen from the folder of the design's file, and leads to one JSON document.",
)
BAD_SCHEMA: Final = Rule(
    "bad-schema",
    "the JSONSchema of {what} {fault} ({pointer})",
    "{hint}",
    "A schema that somebody else wrote has to be a valid schema of its dialect, draft-07 or 2020-12, that "
    "stands alone: its references lead to places inside it. Arguments are an object. The place is a JSON "
    "Pointer (RFC 6901) into the schema.",
)
DEFAULT_IN_SCHEMA: Final = Rule(
    "default-in-schema",
    "the JSONSchema of {what} has a default that {fault} ({pointer})",
    "{hint}",
    "JSON Schema takes a default for a note to readers, and many schemas have one that they refuse. It stays "
    "in the catalogue as it was written, and a value that is left out stays absent.",
    is_warning=True,
)
REPAIRED_SCHEMA: Final = Rule(
    "repaired-schema",
    "the JSONSchema of {what} has a place that {fault} ({pointer})",
    "{hint}",
    "Some schemas break JSON Schema, or are of an older draft, in a place that has one sensible meaning: a "
    "bound of draft-04, a null for what is absent, a name twice in `required`. They are read as they mean.",
    is_warning=True,
)
WHOLE_SCHEMA: Final = Rule(
    "whole-schema",
    "{clause} of tool {tool!r} needs a field of a JSONSchema, whose fields are opaque to clauses",
    "{hint}",
    "What a `JSONSchema` says stays as somebody else wrote it: no field of it is injected, bound to a "
    "method, or added to it. Import it as clauses with `toolgen import jsonschema` where they can express "
    "it.",
)
