"""The cost of matching a pattern in steps for each character, estimated from its text.

Rust's regex builds a deterministic automaton while it reads, and caches it if it is small. The automaton of a
pattern with few states is cached; with many states, it might be rebuilt at each character, with all states
that are live there. A pattern with look-around or back-references runs on an engine that backtracks.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from .steps import take_steps

A_STEP: Final = 16
"""Parts of a step: a pattern with few states takes one part for each character."""
A_MATCH: Final = 40
"""Steps for one match of one string, in addition to the steps of its pattern."""
_FEW: Final = 12
"""States of a pattern whose automaton is cached: 2 to this power is some thousand."""
_BUILT: Final = 20 * A_STEP
"""Parts for each character if the automaton is built while reading, in addition to the live states."""
_LIVE: Final = A_STEP // 4
"""Parts for each state that can be live."""
_LIVE_WIDE: Final = 10
"""Parts for each state that can be live, if characters can have several bytes, with a state for each."""
_WIDE: Final = re.compile(r"\\[dwspuDWSP]|\[\^|\.|\(\?[a-z]*i|[^\x00-\x7f]")
_SHORT: Final = 128
"""Maximum size of a short text, in bytes; it makes at most as many copies of a repeated character live."""
_VERBOSE: Final = re.compile(r"\(\?[a-zA-Z]*x")
"""The flag that allows comments in a pattern, so that its text is not meaningful."""
_ENDS_OF_WORDS: Final = re.compile(r"\\[bB]")
"""Pattern parts that no automaton can match in a text beyond ASCII."""
_MOST: Final = 10**9
_BACKTRACKS: Final = re.compile(r"\(\?(?!:)|\\[1-9kKGbB]|(?:[*+?]|\{[0-9,]+\})\+")
"""Look-around, back-references, atomic groups, ends of words, possible forms of these, and flags."""
_TERM: Final = re.compile(
    r"\\(?:[pPx]\{[^}]*\}|u\{[^}]*\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|.)"
    r"|\[(?:\\.|[^\]\\])*\]|\(\?(?:[:=!>]|<[=!]|P?<[^>]*>|[a-zA-Z-]+:?)|\{(?P<least>[0-9]+)(?:,(?P<most>[0-9]*))?\}|.",
    re.DOTALL,
)


def may_backtrack(pattern: str) -> bool:
    """Return whether a pattern might have parts that an engine without backtracking cannot match."""
    return _BACKTRACKS.search(pattern) is not None


def parts_a_character(pattern: str, longest: int = _MOST) -> int:
    """Return the maximum parts of a step, `A_STEP` to one, that a match takes for each character.

    `longest` is the maximum size of the text in bytes.
    """
    live = _MOST if _VERBOSE.search(pattern) else _live_states(pattern, longest)
    each = _LIVE if _WIDE.search(pattern) is None else _LIVE_WIDE
    if live <= _FEW:
        return 1 if _ENDS_OF_WORDS.search(pattern) is None else each * (1 + live)
    return _BUILT + each * live


@lru_cache(1_024)
def _parts_of_short(pattern: str) -> int:
    return parts_a_character(pattern, _SHORT)


def take_match(pattern: str, text: str, parts: int) -> None:
    """Take the steps of a match by an engine that does not backtrack.

    `parts` are the parts of the pattern for any text.

    Raises:
        TooComplexError: too few steps are left.
    """
    is_ascii = text.isascii()
    size = len(text) if is_ascii else len(text.encode(errors="surrogatepass"))
    if is_ascii and parts < _BUILT:
        parts = 1
    elif size <= _SHORT:
        parts = _parts_of_short(pattern)
    take_steps(A_MATCH + size * parts // A_STEP)


def _live_states(pattern: str, longest: int) -> int:
    """Return a bound for the number of states that can be live at one character.

    In an anchored pattern, one state is live up to the first term of variable length; from there on, each
    term can be, once for each repetition; each copy of a repeated character began at another position of the
    text.
    """
    groups = [0]
    """Numbers of states in the open groups, the outermost first."""
    fixed = 0 if not pattern.startswith("^") else None
    """Number of states before the first term of variable length; None until that term."""
    last, is_group = 0, False
    """Number of states of the last term, which a quantifier repeats."""
    for term in _TERM.finditer(pattern):
        text = term[0]
        if text in "*+?|" or term["most"] is not None:
            if fixed is None:
                in_place = len(groups) == 1 and text != "|"
                fixed = groups[0] - last if in_place else 0 if len(groups) == 1 else groups[0]
                if in_place and not is_group:  # one atom, entered at one position
                    last = 0
        elif text.startswith("("):
            groups.append(0)
        elif text == ")" and len(groups) > 1:
            last, is_group = groups.pop(), True
            groups[-1] += last
        elif term["least"] is None and text not in ("^", "$", r"\b", r"\B"):
            last, is_group = 1, False
            groups[-1] += 1
        if term["least"] is not None:
            times = max(int(term["most"] or 0), int(term["least"]), 1)
            more = last * ((times if is_group else min(times, longest)) - 1)
            groups[-1] += more
            last, is_group = last + more, True
    return 1 if fixed is None else min(sum(groups) - fixed, _MOST)
