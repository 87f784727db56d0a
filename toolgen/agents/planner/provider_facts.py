"""What the provider of a model says of an answer: why it ended, and the sources that it cites. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, TypeAlias, cast

from pydantic_core import to_jsonable_python

from toolgen.calls.documents.types import ProviderDocument
from toolgen.contract.record import frozen_record

from .portable import portable_json, portable_text

FinishReason: TypeAlias = Literal["stop", "length", "content_filter", "tool_call", "error"]
"""Why an answer ended: by itself, at the limit of its tokens, by a filter, with calls, or by an error."""


@frozen_record
class Citation:
    """A source that a provider cites for a part of an answer."""

    url: str = ""
    """Of a web page; "" for any other source."""
    document: str = ""
    """The provider's own id of a file or a document; "" where it has none."""
    title: str = ""
    start: int | None = None
    """Place in the text of the answer where the range begins, in Unicode code points; None where the provider
    gives no range."""
    end: int | None = None
    """Place after the range: `text[start:end]`."""
    is_marker: bool = False
    """The range is a marker or a link that the model wrote, such as `[1]`, and not the text it supports."""


@frozen_record
class ProviderFacts:
    """What the provider says of an answer; what it does not say is absent."""

    finish_reason: FinishReason | None = None
    """None for a word of the provider that has no such meaning."""
    provider_finish_reason: str = ""
    """The provider's own word, such as `end_turn`."""
    citations: tuple[Citation, ...] = ()
    grounding: Any = None
    """What the provider sent of its citations, as JSON. It is in the conversation only."""


def facts_document(facts: ProviderFacts, text: str) -> ProviderDocument:
    """Return the facts as events and records have them; ranges that are not in this text are left out."""
    document: dict[str, Any] = to_jsonable_python(replace(facts, grounding=None))
    for cited in document["citations"]:
        if cited["end"] is None or cited["end"] > len(text):
            cited |= {"start": None, "end": None, "is_marker": False}
    document["citations"] = [_without_empty(cited) for cited in document["citations"]]
    return cast(ProviderDocument, _without_empty(document))


def _without_empty(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document without what is not said; a range may begin at 0."""
    return {key: value for key, value in document.items() if value or (key == "start" and value == 0)}


def facts_of(document: ProviderDocument | None) -> ProviderFacts | None:
    """Return the facts of a document by `facts_document`."""
    if document is None:
        return None
    said: dict[str, Any] = {**document}
    said["citations"] = tuple([Citation(**each) for each in document.get("citations", ())])
    return ProviderFacts(**said)


def portable_facts(facts: ProviderFacts | None) -> ProviderFacts | None:
    """Return the facts as every store takes them."""
    if facts is None:
        return None
    return ProviderFacts(
        finish_reason=facts.finish_reason,
        provider_finish_reason=portable_text(facts.provider_finish_reason),
        citations=tuple(
            replace(
                each,
                url=portable_text(each.url),
                document=portable_text(each.document),
                title=portable_text(each.title),
            )
            for each in facts.citations
        ),
        grounding=portable_json(facts.grounding),
    )
