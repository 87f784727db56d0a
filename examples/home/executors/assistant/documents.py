"""Executes the tools of assistant.documents in home."""

import re
import sqlite3
from collections import defaultdict
from typing import Final

from gen.assistant.toolsets import documents
from gen.types import Hit, Section
from toolgen.runtime import ToolContext, ToolError

_MATCHING: Final = """
    from section_text join section on section.id = section_text.rowid
    where section_text match :words and manual = coalesce(:manual, manual)
"""


class Documents(documents.DocumentsExecutor):
    """Search the manuals of the devices."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    async def search(self, payload: documents.SearchPayload, ctx: ToolContext) -> documents.SearchResult:
        """Search the manuals. Returns the sections that contain every word of the query, best match first."""
        self._check(payload.manual)
        arguments = {
            # Quoted, so that no word is an operator of FTS5.
            "words": " ".join(f'"{word}"' for word in re.findall(r"\w+", payload.query)),
            "manual": payload.manual,
            "limit": payload.limit,
        }
        if not arguments["words"]:
            raise ToolError("The query holds no word.")
        (total,) = self._database.execute(f"select count(*) {_MATCHING}", arguments).fetchone()
        rows = self._database.execute(
            f"select ref, heading, snippet(section_text, 1, '', '', '…', 32) {_MATCHING}"
            " order by bm25(section_text, 4, 1) limit :limit",  # a word in the title weighs four
            arguments,
        )
        hits = [Hit(ref=ref, heading=heading, excerpt=excerpt) for ref, heading, excerpt in rows]
        return documents.SearchResult(
            hits=hits,
            returned=len(hits),
            total=total,
            truncated=len(hits) < total,
            refinement_hint=_hint(len(hits), total),
        )

    async def table_of_contents(
        self, payload: documents.TableOfContentsPayload, ctx: ToolContext
    ) -> documents.TableOfContentsResult:
        """Show the tables of contents of the manuals."""
        self._check(payload.manual)
        rows = self._database.execute(
            "select ref, parent, title from section"
            " where manual = coalesce(?, manual) and level <= ? order by id",
            [payload.manual, payload.depth],
        )
        below: dict[str | None, list[tuple[str, str]]] = defaultdict(list)
        for ref, parent, title in rows:
            below[parent].append((ref, title))

        def sections(parent: str | None) -> list[Section]:
            return [
                Section(ref=ref, title=title, sections=sections(ref) or None) for ref, title in below[parent]
            ]

        return documents.TableOfContentsResult(manuals=sections(None))

    def _check(self, manual: str | None) -> None:
        manuals = [
            name for (name,) in self._database.execute("select distinct manual from section order by 1")
        ]
        if manual is not None and manual not in manuals:
            raise ToolError(f"There is no manual {manual!r}, but these: {', '.join(manuals)}.")


def _hint(returned: int, total: int) -> str | None:
    if total == 0:
        return "No section holds all of these words: try fewer words, or the table of contents."
    return "Add a word, or name the manual." if returned < total else None
