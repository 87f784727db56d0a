"""The table of changes: code, broken parties, version step, explanation and advice of each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from toolgen.contract.record import frozen_record

Party: TypeAlias = Literal["callers", "consumers", "suspended_calls", "generated_code"]
Step: TypeAlias = Literal["major", "minor", "patch"]
Kind: TypeAlias = Party | Literal["weakened", "undecided", "behaviour", "texts"]
"""Kind of a change for `--fail-on`: the party that it breaks in documents, or another kind."""

PARTIES: Final[Mapping[str, Party]] = MappingProxyType(
    {"C": "callers", "R": "consumers", "W": "suspended_calls", "S": "generated_code"}
)
"""The parties by letter; a lowercase letter means that only behaviour breaks, not documents."""
KINDS: Final[tuple[Kind, ...]] = ("weakened", *PARTIES.values(), "undecided", "behaviour", "texts")
STEPS: Final[tuple[Step, ...]] = ("patch", "minor", "major")
"""The steps of a version, the smallest first."""


@frozen_record(kw_only=False)
class ChangeRule:
    """One kind of change."""

    code: str
    """Stable, kebab-case."""
    breaks: str
    """Letters of `PARTIES`."""
    step: Step
    explanation: str
    advice: str = ""
    is_weakening: bool = False
    """Whether a guard became weaker. Such changes are listed first, and no version accepts them."""
    is_undecided: bool = False
    """Whether neither a proof nor a document that shows a difference was found."""


_NEW_TOOL: Final = "keep the tool as it was, mark it Deprecated, and add a new tool"
_NEW_MAJOR: Final = "or release a major version, or accept the change with d.Breaks(…) at the clause"
_GUARD: Final = "keep the guard"
_WAIT: Final = "let suspended calls end before you deploy it, or keep the old contract beside the new one"

RULES: Final = (
    ChangeRule(
        "tool-removed",
        "CWS",
        "major",
        "A tool was removed. New calls of it fail, and its suspended calls cannot be resumed.",
        f"mark it Deprecated first, with its replacement; {_NEW_MAJOR}",
    ),
    ChangeRule(
        "tool-renamed",
        "CWS",
        "major",
        "The wire name of a tool changed: models and clients call it by the old one.",
        f"keep the name; {_NEW_MAJOR}",
    ),
    ChangeRule(
        "tool-moved",
        "WS",
        "minor",
        "The id of a tool changed, for example because its toolset was renamed. Models call it as before, "
        "but suspended calls have the old id.",
        _WAIT,
    ),
    ChangeRule("tool-added", "", "minor", "A tool was added."),
    ChangeRule(
        "argument-removed",
        "CS",
        "major",
        "An argument was removed: a call with it is refused, or the argument no longer has an effect.",
        f"keep it as deprecated and ignore it; {_NEW_MAJOR}",
    ),
    ChangeRule(
        "argument-renamed",
        "CWS",
        "major",
        "An argument was renamed: calls with the old name are refused.",
        f"keep the old name beside the new one; {_NEW_MAJOR}",
    ),
    ChangeRule("argument-added", "", "minor", "An optional argument was added."),
    ChangeRule(
        "argument-added-required",
        "CWS",
        "major",
        "A required argument was added, which existing callers do not send.",
        "make it optional, or give it a default",
    ),
    ChangeRule(
        "argument-required",
        "CWS",
        "major",
        "An optional argument became required.",
        "leave it optional, or give it a default",
    ),
    ChangeRule(
        "argument-optional",
        "S",
        "minor",
        "A required argument became optional without a default: its type in the generated code gains None.",
        "handle None in the executor",
    ),
    ChangeRule("argument-defaulted", "", "minor", "A required argument became optional and has a default."),
    ChangeRule(
        "argument-narrowed",
        "CW",
        "major",
        "An argument accepts fewer values than before, because of a limit, a type, a pattern, an enum or a "
        "key.",
        f"accept all values that were accepted before; {_NEW_MAJOR}",
    ),
    ChangeRule(
        "argument-widened",
        "S",
        "minor",
        "An argument accepts more values than before. An executor that handles each case has to handle the "
        "new ones.",
        "check the executor",
    ),
    ChangeRule(
        "limit-loosened",
        "",
        "minor",
        "A limit was raised or removed: for a value or a size that a model or an approver sends, the time "
        "of a call, concurrent calls, or the runs of an agent.",
        _GUARD,
        is_weakening=True,
    ),
    ChangeRule(
        "default-changed",
        "c",
        "minor",
        "The default of an argument changed, so a call without the argument has another meaning.",
        "keep the default, and let callers send the new value",
    ),
    ChangeRule(
        "default-removed",
        "cS",
        "minor",
        "An argument no longer has a default: a call without the argument has another meaning, and the type "
        "in the generated code gains None.",
        "keep the default",
    ),
    ChangeRule(
        "result-field-added",
        "R",
        "major",
        "A field was added to a result whose old schema allowed no other fields. Consumers that validate "
        "with it refuse the result.",
        f"keep the result as it was, and allow further fields in results from the start; {_NEW_MAJOR}",
    ),
    ChangeRule(
        "result-field-removed",
        "RS",
        "major",
        "A field of a result was removed.",
        f"keep it as deprecated; {_NEW_MAJOR}",
    ),
    ChangeRule(
        "result-optional",
        "RS",
        "major",
        "A field that every result had can be missing.",
        f"keep it required; {_NEW_MAJOR}",
    ),
    ChangeRule(
        "result-required",
        "S",
        "minor",
        "A field of a result became required, so the executor has to fill it.",
        "check the executor",
    ),
    ChangeRule(
        "result-widened",
        "R",
        "major",
        "A result can have values that it could not have before: a new enum value, a looser limit, a new "
        "branch.",
        f"keep to what consumers expect; {_NEW_MAJOR}",
    ),
    ChangeRule(
        "result-narrowed",
        "S",
        "minor",
        "A result can have fewer values than before, and the executor has to keep to them.",
        "check the executor",
    ),
    ChangeRule(
        "bounded-added",
        "RS",
        "major",
        "A result became bounded: it can be a part of all data, and has fields that say so.",
        _NEW_TOOL,
    ),
    ChangeRule(
        "bounded-removed",
        "RS",
        "major",
        "A result is no longer bounded: consumers miss the fields about the bounds, and executors must not "
        "return them.",
        _NEW_TOOL,
    ),
    ChangeRule("artifact-added", "", "minor", "A kind of artifacts was added."),
    ChangeRule(
        "artifact-removed", "RS", "major", "A kind of artifacts was removed.", f"keep it; {_NEW_MAJOR}"
    ),
    ChangeRule(
        "artifact-widened",
        "R",
        "major",
        "An artifact can have values that it could not have before.",
        f"keep to what consumers expect; {_NEW_MAJOR}",
    ),
    ChangeRule(
        "error-added",
        "r",
        "minor",
        "A tool declares a new error. Consumers that handle every declared error do not handle it yet.",
        "inform the consumers",
    ),
    ChangeRule(
        "error-removed",
        "S",
        "minor",
        "A declared error was removed: code that raises or handles it fails type checks.",
        "check the executor",
    ),
    ChangeRule(
        "error-widened",
        "R",
        "major",
        "The details of an error can have values that they could not have before.",
        f"keep to what consumers expect; {_NEW_MAJOR}",
    ),
    ChangeRule(
        "confirmation-added",
        "cW",
        "minor",
        "Calls that ran at once now need approval by a person and are suspended until then.",
        "inform callers without a person who can approve",
    ),
    ChangeRule(
        "confirmation-removed",
        "w",
        "minor",
        "The calls of a tool no longer need approval by a person.",
        _GUARD,
        is_weakening=True,
    ),
    ChangeRule(
        "confirmation-narrowed",
        "w",
        "minor",
        "Fewer calls than before need approval, or a person can approve a call without a field that was "
        "required, or several calls with one answer.",
        _GUARD,
        is_weakening=True,
    ),
    ChangeRule(
        "hint-lost",
        "cW",
        "minor",
        "A tool promises less than before: it is no longer read-only or idempotent, it can destroy "
        "something, or it reaches beyond its own system. Retries, policies and replays treat it differently.",
        "check policies and retries",
        is_weakening=True,
    ),
    ChangeRule(
        "hint-gained",
        "",
        "minor",
        "A tool promises more than before: it is read-only or idempotent, it destroys nothing, or it stays "
        "within its own system.",
    ),
    ChangeRule(
        "inject-added",
        "CS",
        "major",
        "The server now fills an argument that models sent, so calls with it are refused.",
        f"use another name for the injected field; {_NEW_MAJOR}",
    ),
    ChangeRule(
        "inject-removed",
        "C",
        "major",
        "The server no longer fills a field: models have to send it, or the tool works without it.",
        _GUARD,
        is_weakening=True,
    ),
    ChangeRule(
        "long-running-added",
        "cR",
        "major",
        "The tool became long-running: the model gets an acknowledgement first, and the result later.",
        _NEW_TOOL,
    ),
    ChangeRule(
        "long-running-removed",
        "r",
        "minor",
        "The tool is no longer long-running: consumers of the acknowledgement get the result instead.",
        "inform the consumers",
    ),
    ChangeRule("sensitive-added", "", "patch", "More values are masked in events, logs and spans."),
    ChangeRule(
        "sensitive-removed",
        "",
        "minor",
        "Values that were masked are shown in events, logs and spans.",
        _GUARD,
        is_weakening=True,
    ),
    ChangeRule("deprecated", "", "minor", "A tool was marked as deprecated."),
    ChangeRule(
        "text-changed",
        "",
        "patch",
        "A title, a description, an example, a tag, an icon or a hint changed, or a limit became tighter. "
        "The same documents are accepted as before, but models may act differently.",
    ),
    ChangeRule(
        "approval-invalidated",
        "w",
        "patch",
        "The schemas or hints of a tool that needs approval changed, so pending approvals are requested "
        "again.",
        "answer pending approvals before you deploy it",
    ),
    ChangeRule("agent-removed", "CWS", "major", "An agent was removed.", _NEW_MAJOR.removeprefix("or ")),
    ChangeRule(
        "agent-tool-removed",
        "CWS",
        "major",
        "An agent no longer has a tool, so its models and its suspended runs lack it.",
        f"keep it in Use(…); {_NEW_MAJOR}",
    ),
    ChangeRule(
        "agent-tool-renamed",
        "CWS",
        "major",
        "An agent calls a tool by another wire name.",
        f"keep the name; {_NEW_MAJOR}",
    ),
    ChangeRule(
        "agent-export-removed",
        "CWS",
        "major",
        "An agent no longer exports a toolset.",
        f"keep the export; {_NEW_MAJOR}",
    ),
    ChangeRule(
        "completion-removed", "CS", "major", "A completion was removed.", _NEW_MAJOR.removeprefix("or ")
    ),
    ChangeRule(
        "completion-widened",
        "R",
        "major",
        "A completion can have values that it could not have before.",
        f"keep to what consumers expect; {_NEW_MAJOR}",
    ),
    ChangeRule(
        "suspended-call",
        "W",
        "major",
        "A suspended call in a journal cannot be resumed with the new contract: its arguments are not "
        "accepted, its tool was removed, or its approval is requested again.",
        _WAIT,
    ),
    ChangeRule(
        "undecided",
        "",
        "major",
        "Two schemas differ, but toolgen could neither prove that the new one is compatible with the old "
        "one nor find a document that shows the difference.",
        "compare both places yourself, and accept the change with --allow or d.Breaks(…)",
        is_undecided=True,
    ),
)
"""Every kind of change, in the order of the explanations."""

BY_CODE: Final[Mapping[str, ChangeRule]] = MappingProxyType({rule.code: rule for rule in RULES})
