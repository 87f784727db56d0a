"""Published documents: no keyword can be taken away without a change of the design or of what is named."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Iterator
from random import Random
from typing import Any, Final

import pytest

from tests.conformance import corpora
from tests.conformance.openapi.documents import cut
from tests.importers.test_openapi_ledger import imported
from toolgen.contract.json_pointer import escaped, tokens_of

pytestmark = pytest.mark.costly

DOCUMENTS: Final = ("notion", "qdrant", "twilio_verify")
OPERATIONS: Final = 2
MAPS: Final = frozenset(
    "properties patternProperties $defs paths responses content headers links callbacks variables mapping "
    "encoding schemas parameters requestBodies".split()
)
"""Keywords whose keys are names."""
WHOLE: Final = frozenset(
    "example examples default enum const required security contact license headers links callbacks".split()
)
"""Keywords that are looked at as a whole."""
STRUCTURE: Final = frozenset(
    "openapi info paths components schemas responses parameters get put post delete patch $ref name in url "
    "securitySchemes".split()
)
"""What no document, or no object in it, is without."""
OF_THE_DOCUMENT: Final = ("/info/title", "/info/version")
"""What a document is called, which tells it from others."""


def test_each_keyword_of_a_published_document_counts() -> None:
    corpora.require()
    silent = []
    for name in DOCUMENTS:
        whole = json.loads(gzip.decompress((corpora.FOLDER / f"openapi/{name}.json.gz").read_bytes()))
        small = cut(whole, max(1, len(whole["paths"]) // OPERATIONS))
        plain = imported(small)
        by_keyword: dict[str, list[str]] = {}
        for pointer, keyword, holder in keywords(small):
            if keyword not in STRUCTURE and not says_nothing(pointer, keyword, holder, small):
                by_keyword.setdefault(keyword, []).append(pointer)
        random = Random(name)
        for pointers in by_keyword.values():
            pointer = random.choice(pointers)
            if imported(without(small, pointer)) == plain:
                silent.append((name, pointer))
    assert silent == []


def keywords(value: Any, pointer: str = "", above: str = "", *, is_map: bool = False) -> Iterator[Any]:
    """Yield address and name of each keyword of a document, with the object that has it."""
    if isinstance(value, list):
        for place, item in enumerate(value):
            yield from keywords(item, f"{pointer}/{place}", above)
    elif isinstance(value, dict):
        holds_names = above in MAPS and not is_map
        for key, held in value.items():
            at = f"{pointer}/{escaped(key)}"
            if not holds_names:
                yield at, key, value
            if holds_names or (key not in WHOLE and not key.startswith("x-")):
                yield from keywords(held, at, key, is_map=holds_names)


def says_nothing(pointer: str, keyword: str, holder: Any, document: Any) -> bool:
    """Return whether a keyword says what holds without it, or nothing of what the tools do."""
    value, tokens = holder[keyword], tokens_of(pointer)
    if value in (False, None, "", [], {}) or pointer in OF_THE_DOCUMENT or "securitySchemes" in tokens:
        return True
    match keyword:
        case "security" | "servers":  # operations of one document may all have their own
            return len(tokens) == 1 or bool(value == document.get(keyword))
        case "tags":
            return pointer == "/tags" and all(tag.keys() == {"name"} for tag in value)
        case "type" if value == "object" and "properties" in holder:
            return True
        case "type" | "default" if "enum" in holder:
            return keyword == "type" or bool(value == holder["enum"][0])
        case "description":  # which an answer has to have; that of one that succeeds says no more
            return len(tokens) > 2 and tokens[-3] == "responses"
    return False


def without(document: Any, pointer: str) -> Any:
    whole = copy.deepcopy(document)
    *above, last = tokens_of(pointer)
    place = whole
    for token in above:
        place = place[int(token)] if isinstance(place, list) else place[token]
    del place[last]
    return whole
