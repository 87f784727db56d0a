"""The one table of the diagnostics of a design.

A message names its subject first and shows the value; a hint is an action. `toolgen explain` and
docs/diagnostics.md print the explanations, each with a design from `cli/explanations` that breaks the rule.
The rows of types, bindings, transports and agents have their own files, but are imported from this module.
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
    "A clause received a value of the wrong Python type. Type checkers find most of these mistakes "
    "before `toolgen` does.",
)
MISPLACED_CLAUSE: Final = Rule(
    "misplaced-clause",
    "{child} does not belong in {parent}",
    "{hint}",
    "Each clause has its place: attributes belong in `Args`, `Return`, `Payload`, `Result`, `Type` and "
    "`Object`, options in `Tool`, tools in `Toolset`, toolsets and methods in `Service`, services in "
    "`Design`.",
)
DUPLICATE_CLAUSE: Final = Rule(
    "duplicate-clause",
    "{parent} has {clause} twice",
    "{hint}",
    "A clause can occur once in its place. In a tool, only `Inject`, `Artifact`, `Error`, `Icon`, "
    "`Example` and `Suppress` can be repeated, and in a toolset only `Tool`, `NativeTool` and "
    "`Suppress`.",
)
BAD_NAME: Final = Rule(
    "bad-name",
    "name {name!r} of {what} {fault}",
    "{hint}",
    "Toolsets, tools, methods, artifacts, errors, capabilities and prefixes have names `like_this`; "
    "services, types and enums have Python identifiers, usually `LikeThis`. An attribute can have any "
    "JSON key without spaces. If a name contains a space, a comma is often missing between two strings, "
    "which Python then joins.",
)
NAME_TOO_LONG: Final = Rule(
    "name-too-long",
    "name {name!r} of {what} has {length} characters, but providers accept at most {limit}",
    "shorten {part} by {excess} character{plural}",
    "Model providers accept tool names with at most 64 characters. The name that they see consists of "
    "the prefix of the toolset and the name of the tool.",
)
RESERVED_NAME: Final = Rule(
    "reserved-name",
    "name {name!r} of {what} is taken by {taken_by}",
    "choose another name, such as {proposal!r}",
    "A service called `Types` would replace `gen/types.py`, one called `Self` would become an argument "
    "`self` of the executors bound to it, and `None`, `True` and `False` cannot be classes in Python. "
    "Error codes such as `denied` and `timeout` belong to the runtime itself.",
)
DUPLICATE_NAME: Final = Rule(
    "duplicate-name",
    "{what} {name!r} is defined twice in {where}",
    "{hint}",
    "Names are unique in their place: services and types in the design, methods and toolsets in a "
    "service, tools in a toolset, attributes in an object, artifacts and errors in a tool.",
)
IDENTIFIER_CLASH: Final = Rule(
    "identifier-clash",
    "{what} and {other} both become {identifier!r} in {where}",
    "rename one of them",
    "Two different names in the design can become the same Python identifier: for example the "
    "attributes `deviceId` and `device_id`, or the tools `get_user` and `get__user`. Classes of a "
    "toolset must also differ from the shared types.",
)
MISSING_DESCRIPTION: Final = Rule(
    "missing-description",
    "{what} has no description",
    "describe it in one sentence; models choose and fill tools by their descriptions",
    "Models choose and call tools by their descriptions. Nothing else tells them what a tool or an "
    "attribute is for.",
)
TWO_OWNERS: Final = Rule(
    "two-owners",
    "toolset {name!r} is listed in the services {first!r} and {second!r}",
    "remove it from one of them; the remaining service owns it",
    "A toolset belongs to one service, because the ids of its tools begin with the name of the service.",
)
EMPTY_TOOLSET: Final = Rule(
    "empty-toolset",
    "toolset {name!r} has no tools",
    'add Tool("…", "…"), or remove the toolset',
    "A toolset becomes a package with an executor. Without a tool there is nothing to generate.",
)
BAD_LOCK: Final = Rule(
    "bad-lock",
    "{file!r}, the lock of MCP toolset {name!r}, {fault}",
    "{hint}",
    "`MCPToolset` contains the tools that its server listed when `toolgen import mcp` wrote the lock. "
    "The path is relative to the folder of the design's file, and only the command writes the file.",
)
UNKNOWN_INJECT: Final = Rule(
    "unknown-inject",
    "tool {tool!r} injects {name!r}, which is not in its Args or a bound payload",
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
    "add required=True; the server fills it in every call",
    "The server fills an injected field in every call, or the call fails, so it cannot be optional.",
)
OPEN_INJECTION: Final = Rule(
    "open-injection",
    "tool {tool!r} injects {name!r} into open arguments, where a model can send that key too",
    "remove open=True, or add the keys that a model can send as attributes",
    "Open arguments accept every key, but a model must not be able to set an injected field. So "
    "arguments of a tool that injects fields are closed.",
)
BOUNDS_FIELD: Final = Rule(
    "bounds-field",
    "{name!r} of the bounded tool {tool!r} is {type}, not {wanted}",
    "write {attribute}, or omit it: toolgen adds it",
    "A bounded result has `returned` (required Int), `truncated` (required Boolean), `total` (optional "
    "Int) and `refinement_hint` (optional String).",
)
BOUNDS_NOT_COMPUTABLE: Final = Rule(
    "bounds-not-computable",
    "{name!r} of the bounded tool {tool!r} cannot be computed from the result of method {method!r}",
    "{hint}",
    "The result of a bound method contains `returned` and `truncated`, or toolgen computes them: "
    "`returned` is the length of the result's only array, and `truncated` follows from a required "
    "`total` or from a next cursor that is absent on the last page.",
)
BOUNDS_NOT_REFINABLE: Final = Rule(
    "bounds-not-refinable",
    "the result of the bounded tool {tool!r} can be truncated, but method {method!r} returns neither "
    "a refinement_hint nor a next cursor",
    'add Attribute("refinement_hint", String, "…") to the method\'s Result, or {other}',
    "A truncated result has a `refinement_hint` for the model, or a next cursor. Without either, the "
    "model knows that something is missing but not what to do. So the result of a bound method has at "
    "least one of them.",
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
    "tool {tool!r} has read_only=True and {hint_name}=True",
    "remove one of them: a read-only tool changes nothing",
    "A read-only tool changes nothing, so it is not destructive and makes no edits.",
)
BAD_REPLACEMENT: Final = Rule(
    "bad-replacement",
    "replacement of the deprecated tool {tool!r} {fault}",
    "{hint}",
    "`Deprecated(…, replacement=…)` names the tool to use instead: by its name in the same toolset, or "
    "by its id `service.toolset.tool`. It must be another tool of the design that is not deprecated.",
)
BAD_ICON: Final = Rule(
    "bad-icon",
    "{argument} of an Icon of tool {tool!r} is {value}, which {fault}",
    "{hint}",
    "An icon follows MCP: its `src` is an http or https URL, or a data URI with an image in base64; its "
    "`mime_type` is that of an image; its `sizes` are `any`, or width and height in pixels.",
)
UNKNOWN_HINT_NAME: Final = Rule(
    "unknown-hint-name",
    "{clause} of tool {tool!r} {fault}",
    "{hint}",
    "A name in braces stands for a value that people see: an attribute of the arguments in `d.CallHint` "
    "and `d.Confirm(hint=…)`, a field of the result in `d.ResultHint`. Injected fields and artifacts "
    "are not shown. To write a brace itself, double it.",
)
SENSITIVE_HINT_NAME: Final = Rule(
    "sensitive-hint-name",
    "{clause} of tool {tool!r} names {name!r}, which is sensitive",
    "remove {{{name}}}, or name an attribute that shows people what they decide about",
    "People see `•••• (sensitive)` instead of a sensitive value. So a hint that contains only such a "
    "value says nothing about the call.",
    is_warning=True,
)
BAD_WHEN: Final = Rule(
    "bad-when",
    "when of tool {tool!r} {fault}",
    "{hint}",
    "`Confirm(when={attribute: value})` names attributes of the arguments and values that they can "
    "have: strings, numbers, True or False, or several in a tuple. A condition that is never true would "
    "let every call run without approval.",
)
GRANTABLE_PAYLOAD: Final = Rule(
    "grantable-payload",
    "Confirm of tool {tool!r} is grantable, but an approval of the tool has a payload",
    "remove grantable=True, or the payload",
    "A grant lets further calls run without another answer, so nobody adds a payload to them. An executor "
    "that reads the payload of an approval needs an answer for each call.",
)
BAD_SEQUENTIAL: Final = Rule(
    "bad-sequential",
    "Sequential of tool {tool!r} {fault}",
    "{hint}",
    'Calls of `Sequential(by=…)` that share a value run one after another: with `by="session"` those of '
    'a session, with `by="device_id"` those with the same value of this argument, which the model or '
    "an injected field provides. The value cannot be a list, an object or any JSON.",
)
BAD_VERSION: Final = Rule(
    "bad-version",
    "version {value} of design {name!r} is not a semantic version",
    "{hint}",
    "The version of a design follows semver.org 2.0.0: three numbers without leading zeros, optionally "
    "followed by a pre-release or a build: `1.4.0`, `2.0.0-rc.1`. Consumers of the catalog compare "
    "releases by it.",
)
CLOSE_CAPABILITY: Final = Rule(
    "close-capability",
    "Needs of tool {tool!r} names {name!r}, which is close to {meant!r}",
    "did you mean {meant!r}? For your own capability, choose a more distinct name",
    "A tool is registered only if the runtime has every capability that it names. toolgen has the "
    "capabilities `state`, `artifacts` and `memory`; any other name is a capability of the host.",
    is_warning=True,
)
BAD_DURATION: Final = Rule(
    "bad-duration",
    "{what} is {value}, which {fault}",
    "{hint}",
    "A duration is a number above 0 with the unit `ms`, `s`, `m` or `h`, and at most 24 hours.",
)
TERMINAL_LONG_RUNNING: Final = Rule(
    "terminal-long-running",
    "tool {tool!r} is both Terminal and LongRunning",
    "remove one of them: a terminal result ends the turn, but a long-running result arrives later",
    "The result of a `Terminal` tool ends the turn. A `LongRunning` tool first returns an "
    "acknowledgement, with which the model continues.",
)
NESTED_TOO_DEEP: Final = Rule(
    "nested-too-deep",
    "{what} {fault}",
    "{hint}",
    "A design is a tree of limited depth. A type that contains itself refers to its own name in quotes. "
    "Chains of types that lead from one to the next are limited too, because Python's stack is. Each "
    "type counts once, even if it occurs several times.",
)

_FAMILIES: Final = {
    rule.code: rule
    for family in (type_codes, binding_codes, transport_codes, agent_codes)
    for rule in vars(family).values()
    if isinstance(rule, Rule)
}
_ALL: Final = {rule.code: rule for rule in list(globals().values()) if isinstance(rule, Rule)}
RULES: Final = {code: rule for code, rule in _ALL.items() if code not in _FAMILIES} | _FAMILIES
"""Every rule by its code: in the order above, then the rules of types, bindings, transports and agents."""
