"""Estimates the size of a compiled regular expression, from its text alone.

`(.{500}){100}` has thirteen characters and fifty thousand parts; compiling takes as long as that says.
"""

from __future__ import annotations

import re
from typing import Final

_TIMES: Final = re.compile(r"\{([0-9]{1,9})(?:,([0-9]{0,9}))?\}")
_CLASS: Final = re.compile(r"\[\^?\]?(?:[^\]\\]|\\.)*+\]?", re.DOTALL)
_MOST: Final = 10**9


def expanded_size(pattern: str) -> int:
    """Estimate the number of characters and classes of a pattern with its repetitions expanded."""
    sizes = [0]
    """Of the groups that are open, the outermost first."""
    last = at = 0
    while at < len(pattern):
        char = pattern[at]
        end = at + 1
        match char:
            case "(":
                sizes.append(0)
                last = 0
            case ")" if len(sizes) > 1:
                last = sizes.pop()
                sizes[-1] += last
            case "{" if times := _TIMES.match(pattern, at):
                end = times.end()
                more = last * max(int(times[1]), int(times[2] or 0))
                sizes[-1] += more - last
                last = more
            case _:
                found = _CLASS.match(pattern, at) if char == "[" else None
                end = found.end() if found else at + 2 if char == "\\" else end
                last = 1
                sizes[-1] += 1
        sizes[-1] = min(sizes[-1], _MOST)
        at = end
    return min(sum(sizes), _MOST)
