"""Patterns of an imported schema that backtrack when they are matched."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

from toolgen.contract.json_pointer import escaped
from toolgen.shapes.foreign.counted_patterns import linear_engine
from toolgen.shapes.foreign.schema import MAPS, VALUES
from toolgen.shapes.pattern_steps import may_backtrack


def backtracking_patterns(schema: object) -> Iterator[tuple[str, str]]:
    """Yield the patterns of values and keys that may backtrack, each with the JSON Pointer to it."""
    waiting = deque([("", schema)])
    while waiting:
        place, node = waiting.popleft()
        if isinstance(node, list):
            waiting += [(f"{place}/{at}", part) for at, part in enumerate(node)]
        elif isinstance(node, Mapping):
            if isinstance(pattern := node.get("pattern"), str) and _backtracks(pattern):
                yield f"{place}/pattern", pattern
            for key, value in node.items():
                inner = f"{place}/{escaped(str(key))}"
                if key in MAPS and isinstance(value, Mapping):
                    waiting += [(f"{inner}/{escaped(str(name))}", part) for name, part in value.items()]
                    names = value if key == "patternProperties" else ()
                    yield from ((f"{inner}/{escaped(name)}", name) for name in names if _backtracks(name))
                elif key not in VALUES:
                    waiting.append((inner, value))


def _backtracks(pattern: str) -> bool:
    return may_backtrack(pattern) and linear_engine(pattern) is None
