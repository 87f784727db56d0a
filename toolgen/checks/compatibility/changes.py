"""A change between two contracts, with the parties that it breaks and a document that shows it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import unified_diff
from typing import Any, Final

from toolgen.contract.json_pointer import escaped
from toolgen.contract.printable import printable, visible
from toolgen.contract.record import frozen_record

from .conjunctions import flatten
from .documents import SchemaDocument
from .proof import Gap
from .rules import BY_CODE, PARTIES, STEPS, ChangeRule, Kind, Party, Step

_LONGEST_SHOWN: Final = 200
_SHOWN_AS: Final = {"suspended_calls": "suspended calls", "generated_code": "generated code"}


@frozen_record
class TextChange:
    """A changed text for models or people; "" on a side that does not have it."""

    pointer: str
    """JSON Pointer into the entries of both sides."""
    before: str
    after: str

    def lines(self) -> Iterator[str]:
        """Yield a header with the pointer of the text, then the lines of a diff."""
        yield f"@@ {printable(self.pointer)} @@"
        sides = self.before.split("\n"), self.after.split("\n")
        _, _, _, *lines = unified_diff(*sides, n=1, lineterm="")
        yield from ("…" if line.startswith("@@ ") else printable(line) for line in lines)


@frozen_record
class ContractChange:
    """A change of one tool, agent or completion."""

    rule: ChangeRule
    tool: str
    """Id of the changed tool, agent or completion."""
    message: str
    """Sentence that describes the change."""
    before: str = ""
    after: str = ""
    """JSON Pointers into the entries of both sides; "" if there is none."""
    argument: str = ""
    """Argument, field or other part that changed."""
    witness: tuple[Any, ...] = ()
    """Document that one side accepts and the other refuses; empty if none was found."""
    breaks: str = ""
    """Letters of `PARTIES`; the letters of the rule, unless this change is milder."""
    texts: tuple[TextChange, ...] = ()
    """The texts that changed."""

    @property
    def code(self) -> str:
        return self.rule.code

    def parties(self, *, in_behaviour: bool) -> tuple[Party, ...]:
        """Return the parties that the change breaks, in documents or in behaviour."""
        return tuple(PARTIES[each.upper()] for each in self.breaks if each.islower() == in_behaviour)

    @property
    def step(self) -> Step:
        """Version step that the change requires."""
        if self.rule.step == "major" and self.rule.breaks and not set(self.breaks) & {"C", "R", "W"}:
            return "minor"
        return self.rule.step

    @property
    def kinds(self) -> frozenset[Kind]:
        """Kinds of the change, for which it can be refused."""
        facts: dict[Kind, object] = {
            "weakened": self.rule.is_weakening,
            "undecided": self.rule.is_undecided,
            "behaviour": self.parties(in_behaviour=True),
            "texts": self.texts,
        }
        return frozenset((*self.parties(in_behaviour=False), *(kind for kind in facts if facts[kind])))

    @property
    def place(self) -> str:
        """Place of the change for `--allow`: the tool, or the tool and the argument."""
        return f"{self.tool}:{self.argument}" if self.argument else self.tool

    def shown_witness(self) -> str:
        """Return the document as shortened JSON; "" without one."""
        texts = [json.dumps(document, ensure_ascii=False) for document in self.witness]
        return "".join(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…" for text in texts)

    def sentence(self) -> str:
        """Return the change in sentences: the message, the broken parties and the witness."""
        text = f"{printable(self.tool)}: {visible(self.message)}."
        if self.rule.is_weakening:
            text = f"Weakened: {text}"
        if parties := self.parties(in_behaviour=False):
            text += f" Breaks {_parties(parties)}."
        if parties := self.parties(in_behaviour=True):
            text += f" Changes the behaviour for {_parties(parties)}."
        witness = self.shown_witness()
        return f"{text} Shown by {visible(witness)}." if witness else text

    def lines(self) -> list[str]:
        """Return the sentences of the change, followed by the changed texts as diff lines."""
        return [self.sentence(), *(line for text in self.texts for line in text.lines())]


def _parties(parties: Iterable[Party]) -> str:
    return ", ".join(_SHOWN_AS.get(party, party) for party in parties)


def change(
    code: str, tool: str, message: str, *, gap: Gap | None = None, breaks: str | None = None, **facts: Any
) -> ContractChange:
    """Return a change with this code, or an undecided one if its gap has no document."""
    rule = BY_CODE[code]
    if gap is not None and gap.is_undecided:
        message = f"{message} (undecided: {gap.reason}, and no document shows a difference)"
        return ContractChange(rule=BY_CODE["undecided"], tool=tool, message=message, **facts)
    witness = gap.witnesses[:1] if gap is not None else ()
    breaks = rule.breaks if breaks is None else breaks
    return ContractChange(rule=rule, tool=tool, message=message, witness=witness, breaks=breaks, **facts)


def step_of(changes: Iterable[ContractChange]) -> Step:
    """Return the largest version step that the changes require."""
    steps: list[Step] = ["patch", *(each.step for each in changes)]
    return max(steps, key=STEPS.index)


def step_made(before: str, after: str) -> Step | None:
    """Return the step between two versions; None if it cannot be determined, for example without versions.

    A pre-release such as `2.0.0-rc.1` counts as its release, here 2.0.0.
    """
    releases = [re.split(r"[-+]", text)[0] for text in (before, after)]
    numbers = [[int(part) for part in text.split(".")] for text in releases if _is_version(text)]
    if len(numbers) < 2 or numbers[1] <= numbers[0]:
        return None
    old, new = ([*each, 0, 0][:3] for each in numbers)
    if new[0] != old[0] or (new[0] == 0 and new[1] != old[1]):
        return "major"
    return "minor" if new[1] != old[1] else "patch"


def _is_version(text: str) -> bool:
    return bool(text) and all(part.isascii() and part.isdigit() for part in text.split("."))


def properties_of(document: SchemaDocument) -> Mapping[str, Any]:
    """Return the named properties at the root of a schema, with references and `allOf` followed."""
    flat = flatten((document.root,))
    return {name: part for properties in flat.of("properties") for name, part in properties.items()}


def place(part: str, pointer: str) -> str:
    """Return the pointer from an entry to a place in the schema of one of its parts."""
    return f"{part}/schema{pointer}"


def key_of(gap: Gap) -> str:
    """Return the path to the value of a gap in readable form: `filter.sites[].name`."""
    text = ""
    for step in (*gap.path, *((gap.name,) if gap.name else ())):
        text += "[]" if step == "*" else f".{escaped(step)}" if text else escaped(step)
    return text
