"""How many states the deterministic automaton of a pattern has, where they are few.

It is built as Rust's regex does it, with the states of the pattern in the order of their preference. What is
not understood has no number. Beyond ASCII, each class is taken for one that overlaps with all others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from typing import Final

_MOST_STATES: Final = 4_000
_MOST_WIDE: Final = 1_000
"""States of an automaton with characters of more than one byte, each of which has states of its own."""
_MOST_CELLS: Final = 100_000
"""States times the symbols that they tell apart: what fits into the memory of the engine."""
_MOST_WORK: Final = 120_000
"""States of the pattern that are looked at while the automaton is built, some 50 ms."""
_MOST_SETS: Final = 4
_DEEPEST: Final = 20
_ATOM: Final = re.compile(
    r"\\[dwsDWStnr.\-/+*?()\[\]{}|^$\\]|\[\^?(?:[^\[\]\\]|\\[dwsDWStnr.\-/+*?()\[\]{}|^$\\])+\]|[^\\\[\](){}*+?|^$]"
)
_REPEATED: Final = re.compile(r"([*+?])|\{([0-9]{1,4})(?:(,)([0-9]{0,4}))?\}")
_SET_RULES: Final = re.compile(r"&&|--|~~|\|\|")
"""What means something of its own inside a class, in some engines."""


class _UnknownError(Exception):
    """The pattern is not understood, or its automaton is large."""


@lru_cache(4_096)
def work_of_automaton(pattern: str) -> tuple[int, bool]:
    """Return the states of a pattern looked at to build its automaton, and whether that is all of it."""
    automaton = _Automaton(pattern)
    try:
        automaton.build()
    except _UnknownError:
        return automaton.work, False
    return automaton.work, True


class _Automaton:
    """The automaton of one pattern that is anchored at its start."""

    def __init__(self, pattern: str) -> None:
        self.work = 0
        self._text = pattern
        self._at = 0
        self._moves: list[tuple[str, int] | tuple[int, ...] | None] = [None]
        """The atom of each state and the state after it, or the states to try in turn. State 0 is the end."""

    def build(self) -> None:
        """Find all states.

        Raises:
            _UnknownError: they are too many, or the pattern is not understood.
        """
        start = self._either(0, 0)
        if self._at < len(self._text):
            raise _UnknownError
        atoms = {move[0] for move in self._moves if move and isinstance(move[0], str)}
        symbols = [*_symbols(atoms)]
        most = _MOST_WIDE if any(_sets_of(atom) for atom in atoms) else _MOST_STATES
        most = min(most, _MOST_CELLS // len(symbols))
        first = self._closed((start,))
        seen, waiting = {first}, [first]
        closed: dict[tuple[int, ...], tuple[int, ...]] = {}
        while waiting:
            moves = [move for at in waiting.pop() if (move := self._moves[at])]
            for symbol in symbols:
                nexts = tuple([int(move[1]) for move in moves if move[0] in symbol])
                self._spend(1 + len(nexts))
                if nexts in closed:
                    continue
                closed[nexts] = after = self._closed(nexts)
                if after not in seen:
                    seen.add(after)
                    waiting.append(after)
            if len(seen) > most:
                raise _UnknownError

    def _spend(self, work: int) -> None:
        self.work += work
        if self.work > _MOST_WORK:
            raise _UnknownError

    def _closed(self, starts: tuple[int, ...]) -> tuple[int, ...]:
        """Return the states that are reached without a character, the preferred ones first."""
        seen: dict[int, bool] = {}
        waiting = [*reversed(starts)]
        while waiting:
            if (at := waiting.pop()) in seen:
                continue
            move = self._moves[at]
            is_choice = move is not None and not (move and isinstance(move[0], str))
            seen[at] = not is_choice
            if is_choice and move:
                waiting += [int(to) for to in reversed(move)]
        self._spend(len(seen))
        return tuple([at for at, is_kept in seen.items() if is_kept])

    def _add(self, move: tuple[str, int] | tuple[int, ...]) -> int:
        self._moves.append(move)
        return len(self._moves) - 1

    def _either(self, after: int, depth: int) -> int:
        """Read alternatives up to the end of their group, and return the state that they start from."""
        if depth > _DEEPEST:
            raise _UnknownError
        starts = [self._sequence(after, depth)]
        while self._text.startswith("|", self._at):
            self._at += 1
            starts.append(self._sequence(after, depth))
        return starts[0] if len(starts) == 1 else self._add(tuple(starts))

    def _sequence(self, after: int, depth: int) -> int:
        text, begin = self._text, self._at
        if depth == 0:
            if not text.startswith("^", begin):
                raise _UnknownError
            self._at += 1
        terms = []
        while self._at < len(text) and text[self._at] not in "|)":
            if depth == 0 and text[self._at] == "$" and text[self._at + 1 : self._at + 2] in ("", "|"):
                self._at += 1
                break
            terms.append(self._at)
            self._skip(depth)
        end = self._at
        self._spend(1 + end - begin)
        for start in reversed(terms):  # each term is built once it is known what comes after it
            self._at = start
            after = self._term(after, depth)
        self._at = end
        return after

    def _skip(self, depth: int) -> None:
        """Go behind a term, and what repeats it."""
        text = self._text
        if text[self._at] == "(":
            inner = 0
            while self._at < len(text):
                if text[self._at] in "()":
                    inner += 1 if text[self._at] == "(" else -1
                    self._at += 1
                elif atom := _ATOM.match(text, self._at):
                    self._at = atom.end()
                else:
                    self._at += 1
                if inner == 0:
                    break
        elif atom := _ATOM.match(text, self._at):
            self._at = atom.end()
        else:
            raise _UnknownError
        if repeated := _REPEATED.match(text, self._at):
            self._at = repeated.end()
            if text[self._at : self._at + 1] in ("?", "+", "*", "{"):
                raise _UnknownError

    def _term(self, after: int, depth: int) -> int:
        start = self._at
        self._skip(depth)
        end = self._at
        is_group = self._text[start] == "("
        atom = None if is_group else _ATOM.match(self._text, start)
        inside = start + (3 if self._text.startswith("(?:", start) else 1)
        if is_group:
            if self._text.startswith("(?", start) and inside == start + 1:
                raise _UnknownError
            body_end = self._group_end(start)
        else:
            assert atom is not None
            body_end = atom.end()
        least, most = _times(self._text[body_end:end])

        def once(to: int) -> int:
            self._spend(body_end - start)
            if atom is not None:
                return self._add((atom[0], to))
            self._at = inside
            return self._either(to, depth + 1)

        if most is None:
            loop = self._add(())
            self._moves[loop] = (once(loop), after)
            after = loop
        else:
            behind = after
            for _ in range(most - least):
                after = self._add((once(after), behind))
        for _ in range(least):
            after = once(after)
        self._at = end
        return after

    def _group_end(self, start: int) -> int:
        inner, at = 0, start
        while at < len(self._text):
            if self._text[at] in "()":
                inner += 1 if self._text[at] == "(" else -1
                at += 1
                if inner == 0:
                    return at
            else:
                atom = _ATOM.match(self._text, at)
                at = atom.end() if atom else at + 1
        raise _UnknownError


def _times(text: str) -> tuple[int, int | None]:
    """Return how often a term is repeated, at least and at most."""
    match = _REPEATED.fullmatch(text)
    if match is None:
        return 1, 1
    if match[1]:
        return (1 if match[1] == "+" else 0), (1 if match[1] == "?" else None)
    least = int(match[2])
    most = least if match[3] is None else int(match[4]) if match[4] else None
    if most is not None and most < least:
        raise _UnknownError
    return least, most


def _sets_of(atom: str) -> frozenset[str]:
    """Return the sets that say which characters beyond ASCII an atom takes."""
    if atom == ".":
        return frozenset(".")
    named = {name.lower() for name in re.findall(r"\\([dwsDWS])", atom.replace("\\\\", ""))}
    beyond = {atom} if not atom.isascii() else set()
    return frozenset(named | beyond | ({""} if atom.startswith("[^") else set()))


def _takes(atom: str, sets: frozenset[str]) -> bool:
    """Return whether an atom takes a character beyond ASCII that is in these sets only."""
    if atom == ".":
        return "." not in sets
    names = re.findall(r"\\([dwsDWS])", atom.replace("\\\\", ""))
    takes = atom in sets or any((name.lower() in sets) == name.islower() for name in names)
    return takes != atom.startswith("[^")


def _symbols(atoms: set[str]) -> Iterator[frozenset[str]]:
    """Yield the atoms that take one character, once for all characters that the same atoms take."""
    if any(_SET_RULES.search(atom) for atom in atoms):
        raise _UnknownError
    try:
        takes = {atom: re.compile(atom, re.ASCII) for atom in atoms}
    except re.error:
        raise _UnknownError from None
    seen = {
        frozenset([atom for atom, regex in takes.items() if regex.fullmatch(chr(code))])
        for code in range(128)
    }
    sets = sorted({name for atom in atoms for name in _sets_of(atom)} - {""})
    if len(sets) > _MOST_SETS:
        raise _UnknownError
    for number in range(len(sets) + 1):
        for chosen in combinations(sets, number):
            seen.add(frozenset([atom for atom in atoms if _takes(atom, frozenset(chosen))]))
    yield from sorted(seen, key=sorted)
