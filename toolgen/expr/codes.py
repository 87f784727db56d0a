"""The one table of what can be wrong with a design.

A message names its subject first and shows the value; a hint is an action. `toolgen explain` and
docs/diagnostics.md print the explanations, each with a design of `cli/explanations` that breaks the rule.
One table is one file, however many rows it has.
"""

from __future__ import annotations

from typing import Final

from . import agent_codes
from .agent_codes import *  # noqa: F403  # the rows of agents, in a file of their own
from .rule import Rule as Rule

WRONG_ARGUMENT: Final = Rule(
    "wrong-argument",
    "{argument} of {word} is {value}, not {wanted}",
    "{hint}",
    "A word got a value of another Python type than it takes. Type checkers find most of these before "
    "`toolgen` does.",
)
MISPLACED_WORD: Final = Rule(
    "misplaced-word",
    "{child} does not belong in {parent}",
    "{hint}",
    "Each word has its place: attributes stand in `Args`, `Return`, `Payload`, `Result`, `Type` and "
    "`Object`, clauses in `Tool`, tools in `Toolset`, toolsets and methods in `Service`, services in "
    "`Design`.",
)
DUPLICATE_CLAUSE: Final = Rule(
    "duplicate-clause",
    "{parent} has {clause} twice",
    "{hint}",
    "A word stands once in its place. Only `Inject`, `Artifact` and `Example` may be repeated in a tool, "
    "and `Tool` and `NativeTool` in a toolset.",
)
BAD_NAME: Final = Rule(
    "bad-name",
    "name {name!r} of {what} {fault}",
    "{hint}",
    "Toolsets, tools, methods, artifact kinds, capabilities and prefixes are written `like_this`; services, "
    "types and enums are identifiers `LikeThis`. An attribute may have any JSON key without spaces. A name "
    "that holds a space is mostly two strings that Python joined because a comma is missing between them.",
)
NAME_TOO_LONG: Final = Rule(
    "name-too-long",
    "name {name!r} of {what} has {length} characters, and providers take {limit}",
    "shorten {part} by {excess} character{plural}",
    "Model providers accept names of tools up to 64 characters; the name that they see is the toolset's "
    "prefix and the tool's name.",
)
RESERVED_NAME: Final = Rule(
    "reserved-name",
    "name {name!r} of {what} is taken by {taken_by}",
    "choose another name, such as {proposal!r}",
    "A service called `Types` would stand in the place of `gen/types.py`, one called `Self` would be an "
    "argument `self` of the executors bound to it, and `None`, `True` and `False` cannot be classes in "
    "Python.",
)
DUPLICATE_NAME: Final = Rule(
    "duplicate-name",
    "{what} {name!r} stands twice in {where}",
    "{hint}",
    "Names are unique in their place: services and types in the design, methods and toolsets in a "
    "service, tools in a toolset, attributes in an object, artifact kinds in a tool.",
)
IDENTIFIER_CLASH: Final = Rule(
    "identifier-clash",
    "{what} and {other} both become {identifier!r} in {where}",
    "rename one of them",
    "Two names that differ in the design may be one identifier in Python: the attributes `deviceId` and "
    "`device_id`, or the tools `get_user` and `get__user`. Classes of a toolset must also differ from the "
    "shared types.",
)
MISSING_DESCRIPTION: Final = Rule(
    "missing-description",
    "{what} has no description",
    "say in one sentence what it is; models choose and fill tools by their descriptions",
    "A description is the only thing that tells a model what a tool or an attribute is for.",
)
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
    "Each constraint belongs to the types that can hold it: lengths to String, ArrayOf and MapOf, bounds "
    "to Int and Float, `pattern` and `format` to String, `enum` to String and Int. An `enum` stands "
    "alone, and so do `pattern` and `format` beside each other.",
)
BAD_CONSTRAINT: Final = Rule(
    "bad-constraint",
    "{keyword!r} of {what} is {value}, not {wanted}",
    "{hint}",
    "Lengths are whole numbers from 0, bounds of an Int are whole numbers, bounds of a Float are finite, "
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
TWO_OWNERS: Final = Rule(
    "two-owners",
    "toolset {name!r} stands in the services {first!r} and {second!r}",
    "remove it from one of them; the service that keeps it owns it",
    "A toolset belongs to one service: the ids of its tools begin with the service's name.",
)
EMPTY_TOOLSET: Final = Rule(
    "empty-toolset",
    "toolset {name!r} has no tools",
    'add Tool("…", "…"), or remove the toolset',
    "A toolset becomes a package with an executor; without a tool there is nothing to generate.",
)
UNKNOWN_SERVICE: Final = Rule(
    "unknown-service",
    "BindTo of tool {tool!r} names the service {name!r}, which the design does not have",
    "{hint}",
    "`BindTo` names a service of the design, or leaves it out for a method of the toolset's own service.",
)
UNKNOWN_METHOD: Final = Rule(
    "unknown-method",
    "service {service!r} has no method {name!r}, to which tool {tool!r} is bound",
    "{hint}",
    "`BindTo` names a method that its service declares.",
)
UNFILLED_PAYLOAD_FIELD: Final = Rule(
    "unfilled-payload-field",
    "method {method!r} requires {field!r} ({type}), which tool {tool!r} does not fill",
    "{hint}",
    "Every required field of a bound method's payload is filled by an argument, an injected field or a "
    "default.",
)
LOST_ARGUMENT: Final = Rule(
    "lost-argument",
    "argument {field!r} ({type}) of tool {tool!r} does not reach method {method!r}",
    "{hint}",
    "Every argument of a bound tool fills a field of the method's payload; what a model says is not "
    "dropped in silence.",
)
UNFILLED_RESULT_FIELD: Final = Rule(
    "unfilled-result-field",
    "tool {tool!r} returns {field!r} ({type}), which method {method!r} does not give",
    "{hint}",
    "Every required field of a bound tool's result is filled by a field of the method's result.",
)
UNFILLED_ARTIFACT: Final = Rule(
    "unfilled-artifact",
    "tool {tool!r} has the artifact {kind!r}, which method {method!r} does not give",
    "{hint}",
    "An artifact of a bound tool is filled by a field of the method's result, of the same name or by "
    "`rename`. An executor written by hand gives its artifacts itself.",
)
BIND_MISMATCH: Final = Rule(
    "bind-mismatch",
    "{given} is {given_type}, but {taken} is {taken_type}",
    "{hint}",
    "A field that fills another fits its type: the same type, Int into Float, a smaller enum into a "
    "larger one or into String, Url into String, a value into Nullable, required into optional; arrays, "
    "maps, objects and unions part by part. Its constraints allow no more than those of the other; a "
    "pattern or a format goes into the same one, or into none. Else a call could fail although the model "
    "did nothing wrong.",
)
BAD_RENAME: Final = Rule(
    "bad-rename",
    "rename of tool {tool!r} {fault}",
    "{hint}",
    "`rename={field: attribute}` leads from a field of the method's payload or result to the tool's "
    "attribute of another name; both exist, and no two fields lead to one attribute.",
)
UNKNOWN_INJECT: Final = Rule(
    "unknown-inject",
    "tool {tool!r} injects {name!r}, which neither its Args nor a bound payload has",
    "{hint}",
    "`Inject` names attributes of `Args`, or fields of the bound method's payload.",
)
INJECT_TYPE: Final = Rule(
    "inject-type",
    "injected field {name!r} of tool {tool!r} is {type}, not String",
    "the runtime fills {name!r} from the call; write String, or choose another name",
    "`run_id`, `session_id`, `turn_id`, `tool_call_id` and `parent_tool_call_id` are facts of the call, "
    "and strings.",
)
INJECT_REQUIRED: Final = Rule(
    "inject-required",
    "injected field {name!r} of tool {tool!r} is optional",
    "add required=True; the server fills it at every call",
    "The server fills an injected field at every call, or the call fails: nothing is left for optional to "
    "say.",
)
OPEN_INJECTION: Final = Rule(
    "open-injection",
    "tool {tool!r} injects {name!r} into open arguments, where a model may send that key too",
    "remove open=True, or add the keys that a model may send as attributes",
    "Open arguments take every key, and an injected field is one that no model can set. So arguments "
    "beside which something is injected are closed.",
)
OPEN_REBUILD: Final = Rule(
    "open-rebuild",
    "{given} of {giver} is open, but {taker} does not get the keys beyond its attributes",
    "{hint}",
    "A tool and its method have classes of their own, and the generated code carries over the attributes "
    "one by one; keys that nobody named would be lost. An object of one named `Type` on both sides is "
    "passed on as it is. A closed result may take the attributes that it has from an open one.",
)
BOUNDS_FIELD: Final = Rule(
    "bounds-field",
    "{name!r} of the bounded tool {tool!r} is {type}, not {wanted}",
    "write {attribute}, or leave it out and it is added",
    "A bounded result has `returned` (required Int), `truncated` (required Boolean), `total` (optional "
    "Int) and `refinement_hint` (optional String).",
)
BOUNDS_NOT_COMPUTABLE: Final = Rule(
    "bounds-not-computable",
    "{name!r} of the bounded tool {tool!r} does not follow from the result of method {method!r}",
    "{hint}",
    "The result of a bound method carries `returned` and `truncated`, or lets them be computed: "
    "`returned` is the length of the result's only array, `truncated` follows from a required `total` or "
    "from a next cursor that the last page lacks.",
)
BOUNDS_NOT_REFINABLE: Final = Rule(
    "bounds-not-refinable",
    "the result of the bounded tool {tool!r} may be truncated, and method {method!r} gives neither a "
    "refinement_hint nor a next cursor",
    'add Attribute("refinement_hint", String, "…") to the method\'s Result, or {other}',
    "A bounded result that is truncated has a `refinement_hint`, in words for the model, or a next cursor "
    "(Goa-AI's rule): without either the model knows that something is missing, and not what to do. A bound "
    "method's result has at least one of them.",
)
BAD_CURSOR: Final = Rule(
    "bad-cursor",
    "{which} {name!r} of tool {tool!r} {fault}",
    "{hint}",
    "Cursors come in pairs: `cursor` is an optional String of Args, `next_cursor` an optional String of "
    "Return.",
)
ANNOTATIONS_CONFLICT: Final = Rule(
    "annotations-conflict",
    "tool {tool!r} says read_only=True and {hint_name}=True",
    "remove one of them: what only reads changes nothing",
    "A tool that only reads changes nothing, so it is not destructive and makes no edits.",
)
UNKNOWN_HINT_NAME: Final = Rule(
    "unknown-hint-name",
    "{clause} of tool {tool!r} {fault}",
    "{hint}",
    "A name in braces stands for a value that people see: an attribute of the arguments in `CallHint` and "
    "`Confirm(hint=…)`, a field of the result in `ResultHint`. Injected fields and artifacts are not shown. "
    "A brace that is meant as a brace is written twice.",
)
BAD_WHEN: Final = Rule(
    "bad-when",
    "when of tool {tool!r} {fault}",
    "{hint}",
    "`Confirm(when={attribute: value})` names attributes of the arguments and values that they can have, "
    "alone or several in a tuple: strings, numbers, True or False. A condition that can never hold would "
    "let every call through unasked.",
)
BAD_DURATION: Final = Rule(
    "bad-duration",
    "{what} is {value}, which {fault}",
    "{hint}",
    "A span of time is a number above 0 with its unit, `ms`, `s`, `m` or `h`, and at most 24 hours long.",
)
TERMINAL_LONG_RUNNING: Final = Rule(
    "terminal-long-running",
    "tool {tool!r} is Terminal and LongRunning",
    "remove one of them: what ends the turn has its answer, and what answers later has none yet",
    "The result of a `Terminal` tool ends the turn. A `LongRunning` tool gives an acknowledgement first, "
    "with which the model goes on.",
)
NESTED_TOO_DEEP: Final = Rule(
    "nested-too-deep",
    "{what} {fault}",
    "{hint}",
    "A design is a tree of finite depth; types that contain themselves refer to their own name in quotes. "
    "Types that lead from one to the next are limited too: Python's stack ends soon after. A type counts "
    "once, however often it comes again.",
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
WHOLE_SCHEMA: Final = Rule(
    "whole-schema",
    "{clause} of tool {tool!r} would have to look into a JSONSchema, which is one whole",
    "{hint}",
    "What a `JSONSchema` says stays as somebody else wrote it: no field of it is injected, bound to a "
    "method, or added to it. Import it as words with `toolgen import jsonschema` where they can express it.",
)

_ALL: Final = [rule for rule in list(globals().values()) if isinstance(rule, Rule)]
RULES: Final = {rule.code: rule for rule in sorted(_ALL, key=lambda rule: rule.code in agent_codes.CODES)}
"""Every rule by its code: in the order above, then those of agents."""
