"""The one table of the diagnostics of a design.

A message names its subject first and shows the value; a hint is an action. `toolgen explain` and
docs/diagnostics.md print the explanations, each with a design of `cli/explanations` that breaks the rule.
The rows of types, bindings, transports and agents have files of their own; whoever uses a row takes it
from here.
"""

from __future__ import annotations

from typing import Final

from . import agent_codes, binding_codes, transport_codes, type_codes
from .agent_codes import *  # noqa: F403
from .binding_codes import *  # noqa: F403
from .rule import Rule as Rule
from .transport_codes import *  # noqa: F403
from .type_codes import *  # noqa: F403

WRONG_ARGUMENT: Final = Rule(
    "wrong-argument",
    "{argument} of {clause} is {value}, not {wanted}",
    "{hint}",
    "A clause got a value of another Python type than it takes. Type checkers find most of these before "
    "`toolgen` does.",
)
MISPLACED_CLAUSE: Final = Rule(
    "misplaced-clause",
    "{child} does not belong in {parent}",
    "{hint}",
    "Each clause has its place: attributes stand in `Args`, `Return`, `Payload`, `Result`, `Type` and "
    "`Object`, clauses in `Tool`, tools in `Toolset`, toolsets and methods in `Service`, services in "
    "`Design`.",
)
DUPLICATE_CLAUSE: Final = Rule(
    "duplicate-clause",
    "{parent} has {clause} twice",
    "{hint}",
    "A clause stands once in its place. Only `Inject`, `Artifact`, `Error`, `Icon` and `Example` may be "
    "repeated in a tool, and `Tool` and `NativeTool` in a toolset.",
)
BAD_NAME: Final = Rule(
    "bad-name",
    "name {name!r} of {what} {fault}",
    "{hint}",
    "Toolsets, tools, methods, artifact kinds, errors, capabilities and prefixes are written `like_this`; "
    "services, types and enums have identifiers as names, `LikeThis` by custom. An attribute may have any "
    "JSON key without spaces. A name that holds a space is mostly two strings that Python joined because a "
    "comma is missing between them.",
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
    "Python. Codes such as `denied` and `timeout` are what the runtime itself tells of a failed call.",
)
DUPLICATE_NAME: Final = Rule(
    "duplicate-name",
    "{what} {name!r} stands twice in {where}",
    "{hint}",
    "Names are unique in their place: services and types in the design, methods and toolsets in a "
    "service, tools in a toolset, attributes in an object, artifact kinds and errors in a tool.",
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
BAD_LOCK: Final = Rule(
    "bad-lock",
    "{file!r}, the lock of MCP toolset {name!r}, {fault}",
    "{hint}",
    "`MCPToolset` has the tools that its server has listed, as `toolgen import mcp` wrote them into the "
    "lock. The path is seen from the folder of the design's file, and only the command writes the file.",
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
BAD_REPLACEMENT: Final = Rule(
    "bad-replacement",
    "replacement of the deprecated tool {tool!r} {fault}",
    "{hint}",
    "`Deprecated(…, replacement=…)` names the tool that is used instead: by its name in the same toolset, or "
    "by its id `service.toolset.tool`. It is another tool of the design, and not deprecated itself.",
)
BAD_ICON: Final = Rule(
    "bad-icon",
    "{argument} of an Icon of tool {tool!r} is {value}, which {fault}",
    "{hint}",
    "An icon is one of MCP's: its `src` is a URL of http or https, or a data URI of an image in base64; "
    "`mime_type` is that of an image; `sizes` are `any`, or width and height in pixels.",
)
UNKNOWN_HINT_NAME: Final = Rule(
    "unknown-hint-name",
    "{clause} of tool {tool!r} {fault}",
    "{hint}",
    "A name in braces stands for a value that people see: an attribute of the arguments in `d.CallHint` and "
    "`d.Confirm(hint=…)`, a field of the result in `d.ResultHint`. Injected fields and artifacts are not "
    "shown. A brace that is meant as a brace is written twice.",
)
SENSITIVE_HINT_NAME: Final = Rule(
    "sensitive-hint-name",
    "{clause} of tool {tool!r} names {name!r}, which is sensitive",
    "remove {{{name}}}, or name an attribute that tells people what they decide on",
    "People read `•••• (sensitive)` in the place of a sensitive value, whatever it is. A hint that names one "
    "says nothing about this call.",
    is_warning=True,
)
BAD_WHEN: Final = Rule(
    "bad-when",
    "when of tool {tool!r} {fault}",
    "{hint}",
    "`Confirm(when={attribute: value})` names attributes of the arguments and values that they can have, "
    "alone or several in a tuple: strings, numbers, True or False. A condition that can never hold would "
    "let every call through unasked.",
)
GRANTABLE_PAYLOAD: Final = Rule(
    "grantable-payload",
    "Confirm of tool {tool!r} is grantable, and an approval of the tool has a payload",
    "remove grantable=True, or the payload",
    "A grant lets further calls run without another answer, so nobody adds a payload to them. An executor "
    "that reads the payload of an approval needs an answer for each call.",
)
BAD_SEQUENTIAL: Final = Rule(
    "bad-sequential",
    "Sequential of tool {tool!r} {fault}",
    "{hint}",
    'Calls of `Sequential(by=…)` take turns that have one thing in common: `by="session"` their session, '
    '`by="device_id"` the value of this argument, which the model or an injected field gives. A list, an '
    "object or any JSON is no such thing.",
)
BAD_VERSION: Final = Rule(
    "bad-version",
    "version {value} of design {name!r} is no semantic version",
    "{hint}",
    "The version of a design is one of semver.org 2.0.0: three numbers without leading zeros, and after them "
    "what is before a release, or a build: `1.4.0`, `2.0.0-rc.1`. Readers of the catalogue compare releases "
    "by it.",
)
CLOSE_CAPABILITY: Final = Rule(
    "close-capability",
    "Needs of tool {tool!r} names {name!r}, which is almost {meant!r}",
    "did you mean {meant!r}? For a capability of your own choose a name that differs more",
    "A tool is registered only if the Runtime has each capability that it names. Those of toolgen are "
    "`state` and `artifacts`; any other name is that of a capability of the host.",
    is_warning=True,
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

_FAMILIES: Final = {
    rule.code: rule
    for family in (type_codes, binding_codes, transport_codes, agent_codes)
    for rule in vars(family).values()
    if isinstance(rule, Rule)
}
_ALL: Final = {rule.code: rule for rule in list(globals().values()) if isinstance(rule, Rule)}
RULES: Final = {code: rule for code, rule in _ALL.items() if code not in _FAMILIES} | _FAMILIES
"""Every rule by its code: in the order above, then those of types, bindings, transports and agents."""
