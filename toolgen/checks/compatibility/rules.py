"""The table of changes: of each its code, whom it breaks, the step of the version it asks for, advice."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from toolgen.contract.record import frozen_record

Party: TypeAlias = Literal["callers", "consumers", "suspended_calls", "generated_code"]
Step: TypeAlias = Literal["major", "minor", "patch"]
Kind: TypeAlias = Party | Literal["weakened", "undecided", "behaviour", "texts"]
"""What a change can be refused for: the party that it breaks in documents, or one of the rest."""

PARTIES: Final[Mapping[str, Party]] = MappingProxyType(
    {"C": "callers", "R": "consumers", "W": "suspended_calls", "S": "generated_code"}
)
"""The parties by their letter; a small letter breaks them in behaviour, and in no document."""
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
    """A guard became weaker. It is listed first, and no version lets it through."""
    is_undecided: bool = False
    """Nothing was proved, and no document of a difference was found."""


_NEW_TOOL: Final = "keep it as it was, mark it Deprecated, and add a tool beside it"
_NEW_MAJOR: Final = "or say so by a major version, or by d.Breaks(…) at the clause"
_GUARD: Final = "keep it"
_WAIT: Final = "let what waits end before you deploy it, or keep the old contract beside the new one"

RULES: Final = (
    ChangeRule(
        "tool-removed",
        "CWS",
        "major",
        "A tool is gone. Who calls it is told that there is no such tool, and calls of it that wait "
        "cannot go on.",
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
        "The id of a tool changed, as when its toolset is renamed; models call it as before. Calls that "
        "wait have the old id.",
        _WAIT,
    ),
    ChangeRule("tool-added", "", "minor", "A tool is new."),
    ChangeRule(
        "argument-removed",
        "CS",
        "major",
        "An argument is gone: a call that has it is refused, or it has no effect any more.",
        f"keep it, deprecated, and ignore it; {_NEW_MAJOR}",
    ),
    ChangeRule(
        "argument-renamed",
        "CWS",
        "major",
        "An argument has another name; who sends the old one is refused.",
        f"keep the old name beside the new one; {_NEW_MAJOR}",
    ),
    ChangeRule("argument-added", "", "minor", "An optional argument is new."),
    ChangeRule(
        "argument-added-required",
        "CWS",
        "major",
        "A new argument is required, and nobody sends it yet.",
        "make it optional, or give it a default",
    ),
    ChangeRule(
        "argument-required",
        "CWS",
        "major",
        "An argument that could be left out is required.",
        "leave it optional, or give it a default",
    ),
    ChangeRule(
        "argument-optional",
        "S",
        "minor",
        "A required argument may be left out, and has no default: its type in the generated code gains None.",
        "handle None in the executor",
    ),
    ChangeRule("argument-defaulted", "", "minor", "A required argument may be left out, and has a default."),
    ChangeRule(
        "argument-narrowed",
        "CW",
        "major",
        "Values of an argument that were accepted are refused: a limit, a type, a pattern, a value of "
        "an enum, a key.",
        f"accept what was accepted; {_NEW_MAJOR}",
    ),
    ChangeRule(
        "argument-widened",
        "S",
        "minor",
        "More values of an argument are accepted. An executor that handles each case by itself has a "
        "new one.",
        "look at the executor",
    ),
    ChangeRule(
        "limit-loosened",
        "",
        "minor",
        "A limit was raised or removed: of a value or a size that a model or an approver sends, of the time "
        "of a call, of the calls that run at once, or of the runs of an agent.",
        _GUARD,
        is_weakening=True,
    ),
    ChangeRule(
        "default-changed",
        "c",
        "minor",
        "The default of an argument changed: a call without it means something else now.",
        "keep the default, and let callers ask for the new value",
    ),
    ChangeRule(
        "default-removed",
        "cS",
        "minor",
        "An argument has no default any more: a call without it means something else now, and the type "
        "in the generated code gains None.",
        "keep the default",
    ),
    ChangeRule(
        "result-field-added",
        "R",
        "major",
        "A result has a new field, and the old schema allowed no other fields. Readers that validate "
        "refuse it.",
        f"make results open from the start; {_NEW_MAJOR}",
    ),
    ChangeRule(
        "result-field-removed",
        "RS",
        "major",
        "A field of a result is gone.",
        f"keep it, deprecated; {_NEW_MAJOR}",
    ),
    ChangeRule(
        "result-optional",
        "RS",
        "major",
        "A field that every result had may be absent.",
        f"keep it required; {_NEW_MAJOR}",
    ),
    ChangeRule(
        "result-required",
        "S",
        "minor",
        "A field of a result is always there now; the executor has to fill it.",
        "look at the executor",
    ),
    ChangeRule(
        "result-widened",
        "R",
        "major",
        "A result may have values that it never had: a new value of an enum, a looser limit, another branch.",
        f"keep what readers were promised; {_NEW_MAJOR}",
    ),
    ChangeRule(
        "result-narrowed",
        "S",
        "minor",
        "A result may have fewer values; the executor has to keep to them.",
        "look at the executor",
    ),
    ChangeRule(
        "bounded-added",
        "RS",
        "major",
        "A result is a window on more now, and has fields that say so.",
        _NEW_TOOL,
    ),
    ChangeRule(
        "bounded-removed",
        "RS",
        "major",
        "A result is no window on more any more; readers miss the fields that said so, and executors may "
        "not give them.",
        _NEW_TOOL,
    ),
    ChangeRule("artifact-added", "", "minor", "A kind of artifacts is new."),
    ChangeRule("artifact-removed", "RS", "major", "A kind of artifacts is gone.", f"keep it; {_NEW_MAJOR}"),
    ChangeRule(
        "artifact-widened",
        "R",
        "major",
        "An artifact may have values that it never had.",
        f"keep what readers were promised; {_NEW_MAJOR}",
    ),
    ChangeRule(
        "error-added",
        "r",
        "minor",
        "A tool may fail in a way that it did not declare. Readers that list all errors lack one.",
        "tell readers",
    ),
    ChangeRule(
        "error-removed",
        "S",
        "minor",
        "A declared error is gone; code that raises or handles it does not type-check.",
        "look at the executor",
    ),
    ChangeRule(
        "error-widened",
        "R",
        "major",
        "The details of an error may have values that they never had.",
        f"keep what readers were promised; {_NEW_MAJOR}",
    ),
    ChangeRule(
        "confirmation-added",
        "cW",
        "minor",
        "A person has to agree where nobody was asked before; calls wait.",
        "tell who calls it without a person",
    ),
    ChangeRule(
        "confirmation-removed",
        "w",
        "minor",
        "No person approves the calls of a tool any more.",
        _GUARD,
        is_weakening=True,
    ),
    ChangeRule(
        "confirmation-narrowed",
        "w",
        "minor",
        "A person approves fewer calls than before, or can approve one without a field that was required, or "
        "several by one answer.",
        _GUARD,
        is_weakening=True,
    ),
    ChangeRule(
        "hint-lost",
        "cW",
        "minor",
        "A tool promises less than before: it is no longer read-only or idempotent, it can destroy "
        "something, or it reaches beyond its own system. Retries, policies and replays treat it differently.",
        "look at policies and retries",
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
        "The server fills an argument that models sent; a call that has it is refused.",
        f"take another name for the injected field; {_NEW_MAJOR}",
    ),
    ChangeRule(
        "inject-removed",
        "C",
        "major",
        "The server does not fill a field any more: models are asked for it, or the tool does without it.",
        _GUARD,
        is_weakening=True,
    ),
    ChangeRule(
        "long-running-added",
        "cR",
        "major",
        "The result comes later now; the model gets an acknowledgement first.",
        _NEW_TOOL,
    ),
    ChangeRule(
        "long-running-removed",
        "r",
        "minor",
        "The result comes at once; readers of the acknowledgement get none.",
        "tell readers",
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
    ChangeRule("deprecated", "", "minor", "A tool is marked as one that should not be used any more."),
    ChangeRule(
        "text-changed",
        "",
        "patch",
        "A title, a description, an example, a tag, an icon or a hint changed, or a limit became tighter. "
        "Every document is accepted as before; models act by the new texts.",
    ),
    ChangeRule(
        "approval-invalidated",
        "w",
        "patch",
        "The schemas or hints of a tool that asks a person changed, so that approvals that wait are "
        "asked again.",
        "answer what waits before you deploy it",
    ),
    ChangeRule("agent-removed", "CWS", "major", "An agent is gone.", _NEW_MAJOR.removeprefix("or ")),
    ChangeRule(
        "agent-tool-removed",
        "CWS",
        "major",
        "An agent has a tool no longer; its models and its runs that wait lack it.",
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
        "An agent offers a toolset to others no longer.",
        f"keep the export; {_NEW_MAJOR}",
    ),
    ChangeRule("completion-removed", "CS", "major", "A completion is gone.", _NEW_MAJOR.removeprefix("or ")),
    ChangeRule(
        "completion-widened",
        "R",
        "major",
        "A completion may have values that it never had.",
        f"keep what readers were promised; {_NEW_MAJOR}",
    ),
    ChangeRule(
        "suspended-call",
        "W",
        "major",
        "A call that waits in a journal does not go on with the new contract: its arguments do not fit, "
        "its tool is gone, or its approval is asked again.",
        _WAIT,
    ),
    ChangeRule(
        "undecided",
        "",
        "major",
        "Two schemas differ, no proof says that the new one keeps what the old one promised, and no "
        "document was found that shows the difference.",
        "compare both places by eye, and let it through by --allow or d.Breaks(…)",
        is_undecided=True,
    ),
)
"""Every kind of change, in the order in which they are explained."""

BY_CODE: Final[Mapping[str, ChangeRule]] = MappingProxyType({rule.code: rule for rule in RULES})
