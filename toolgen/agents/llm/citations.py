"""Facts of an answer from the finish reason and citations that pydantic-ai reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from pydantic_ai.messages import (
    CitationSource,
    MarkerCitationAnchor,
    ModelResponse,
    SpeechPart,
    TextPart,
    WebCitationSource,
)

from ..planner.provider_facts import Citation, ProviderFacts

if TYPE_CHECKING:
    from google.genai.types import Citation as GeminiCitation

_MOST: Final = 200
"""Maximum number of citations in one answer."""


def provider_facts(answer: ModelResponse, recited: Sequence[GeminiCitation] = ()) -> ProviderFacts | None:
    """Return the provider's facts of an answer; None if there are none.

    pydantic-ai invents finish reasons for some answers without one, but never the provider's own word. It
    drops the sources that Gemini reports as quoted by an answer, so `recited` has them.
    """
    word = (answer.provider_details or {}).get("finish_reason")
    raw = [
        cited
        for part in answer.parts
        if isinstance(part, TextPart) and part.citations
        for cited in (part.provider_details or {}).get("citations", ())
    ]
    raw += [each.model_dump(mode="json", exclude_none=True) for each in recited]
    cited = [*_citations(answer), *_recited(answer.text or "", recited)]
    facts = ProviderFacts(
        finish_reason=answer.finish_reason if word else None,
        provider_finish_reason=str(word or ""),
        citations=tuple(cited[:_MOST]),
        grounding=raw[:_MOST] or None,
    )
    return facts if facts != ProviderFacts() else None


def _citations(answer: ModelResponse) -> Iterator[Citation]:
    """Yield one citation for each source, with its range in the text of the whole answer."""
    for place, part in _texts(answer):
        for cited in part.citations or ():
            anchor = cited.anchor
            start, end = (None, None) if anchor is None else (place + anchor.start, place + anchor.end)
            is_marker = isinstance(anchor, MarkerCitationAnchor)
            for source in cited.sources:
                yield _citation(source, start, end, is_marker=is_marker)


def _citation(source: CitationSource, start: int | None, end: int | None, *, is_marker: bool) -> Citation:
    title = source.title or ""
    if isinstance(source, WebCitationSource):
        return Citation(url=source.url, title=title, start=start, end=end, is_marker=is_marker)
    document = source.document_id or ""
    return Citation(document=document, title=title, start=start, end=end, is_marker=is_marker)


def _recited(text: str, recited: Sequence[GeminiCitation]) -> Iterator[Citation]:
    """Yield the sources of Gemini's `CitationMetadata`, whose ranges count bytes of UTF-8."""
    data = text.encode(errors="replace")
    for each in recited:
        start, end = each.start_index or 0, each.end_index or 0
        url, title = each.uri or "", each.title or ""
        if 0 <= start < end <= len(data):
            before, through = (len(data[:place].decode(errors="ignore")) for place in (start, end))
            yield Citation(url=url, title=title, start=before, end=through)
        else:
            yield Citation(url=url, title=title)


def _texts(answer: ModelResponse) -> Iterator[tuple[int, TextPart]]:
    """Yield the texts of an answer, each with its offset in `answer.text`, which joins them."""
    end, is_adjacent = -1, False
    for part in answer.parts:
        if not isinstance(part, TextPart | SpeechPart) or (isinstance(part, SpeechPart) and not part.content):
            is_adjacent = False
            continue
        start = end if is_adjacent else 0 if end < 0 else end + len("\n\n")
        end, is_adjacent = start + len(part.content or ""), True
        if isinstance(part, TextPart):
            yield start, part
