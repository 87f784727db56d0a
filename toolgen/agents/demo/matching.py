"""Selects the tool that the words of a message match. Pure: equal messages and tools give equal choices."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log
from typing import Any, Final

from toolgen.calls.specs import ToolSpec
from toolgen.contract.record import frozen_record

_WORD: Final = re.compile(r"(?![\d.]{1,40}\b)[^\W_]+")  # the bound limits backtracking on long digit runs
_LITTLE: Final = frozenset(
    "a an and are as at be by can could do does for from give has have how i in is it its me my of on or "
    "please so some that the their them there these this those to us was we were what when where which who "
    "will with would you your".split()
)
"""Words that carry no information about a tool."""
_QUESTION: Final = re.compile(r"\s*(what|which|who|whose|where|when|how|is|are|was|were)\b", re.IGNORECASE)
_ALIKE: Final = (
    frozenset(("list", "show", "all", "display")),
    frozenset(("add", "create", "new", "make", "write", "keep")),
    frozenset(("delete", "remove", "drop")),
    frozenset(("find", "search", "look")),
    frozenset(("get", "read", "fetch")),
    frozenset(("set", "change", "update", "switch", "turn")),
)
_LEAST: Final = 1.0
"""Minimum score of a match; a lower score is coincidence, for example a word in an argument's description."""


@frozen_record
class ToolMatch:
    """A tool, or an agent that can take over, and the words of the message that match it."""

    name: str
    words: tuple[str, ...]
    """Words of the message, in their order."""
    score: float


def stem(word: str) -> str:
    """Return a word without the English ending of a plural or a verb form."""
    word = word.lower()
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    for end, least in (("ing", 6), ("ed", 5), ("s", 4)):
        if len(word) >= least and word.endswith(end) and not word.endswith("ss"):
            return word.removesuffix(end)
    return word


def words_of(text: str) -> Iterator[str]:
    """Yield the words of a text that can identify a tool, as they are written."""
    return (word for word in _WORD.findall(text) if word.lower() not in _LITTLE)


def best_match(
    message: str, tools: Sequence[ToolSpec], agents: Mapping[str, str] | None = None
) -> ToolMatch | None:
    """Return the best match for the words of a message, the first if several are equal; None without a match.

    A question prefers a matching read-only tool. An agent, matched by its description, is returned only if no
    tool matches.
    """
    named = re.match(r"\s*([\w-]+)", message)
    for spec in tools:
        if named and named[1] == spec.name:
            return ToolMatch(name=spec.name, words=(spec.name,), score=float(len(tools) + 1))
    weights = {spec.name: _weights(spec) for spec in tools}
    read_only = {spec.name: weights[spec.name] for spec in tools if spec.hints["read_only"]}
    best = (_QUESTION.match(message) and _best(message, read_only)) or _best(message, weights)
    if best is None and agents:
        return _best(message, {id_: _weighted([(id_, 3.0), (text, 1.0)]) for id_, text in agents.items()})
    return best


def _best(message: str, candidates: Mapping[str, Mapping[str, float]]) -> ToolMatch | None:
    spread = Counter(word for weights in candidates.values() for word in weights)
    best: ToolMatch | None = None
    for name, weights in candidates.items():
        score, words, seen = 0.0, list[str](), set[str]()
        for word in words_of(message):
            root = stem(word)
            if root in seen:
                continue
            seen.add(root)
            alike = next((group for group in _ALIKE if root in group), frozenset((root,)))
            weight, other = max(
                (weights[near] * (1.0 if near == root else 0.5), near) if near in weights else (0.0, "")
                for near in sorted(alike)
            )
            if weight:
                score += weight * log(1 + len(candidates) / spread[other])
                words.append(word)
        if score >= _LEAST and (best is None or score > best.score):
            best = ToolMatch(name=name, words=tuple(words), score=score)
    return best


def _weights(spec: ToolSpec) -> Mapping[str, float]:
    schema: Any = spec.payload.schema
    texts = [(spec.name, 3.0), (spec.title, 2.0), (spec.description, 1.0), (spec.toolset, 1.0)]
    for name, property_ in (schema.get("properties") or {}).items():
        texts.append((name, 1.0))
        if isinstance(property_, Mapping):
            texts.append((str(property_.get("description", "")), 0.5))
            texts += [(value, 1.5) for value in property_.get("enum", ()) if isinstance(value, str)]
    return _weighted(texts)


def _weighted(texts: Iterable[tuple[str, float]]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for text, weight in texts:
        for word in words_of(text.replace("_", " ")):
            root = stem(word)
            weights[root] = max(weight, weights.get(root, 0.0))
    return weights
