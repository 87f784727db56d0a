"""What an approval for further calls never does, and what is no such approval."""

from __future__ import annotations

from typing import Any

from tests.runtime.granting import Host, asked, granted, status
from toolgen.runtime import Suspended


def by_text(asked: Suspended, answer: Any, by: str) -> str:
    is_own = by == asked.requested_by
    return "prod needs a second person" if is_own and "prod" in asked.question + asked.preview else ""


async def test_a_rule_reads_the_question_that_a_grant_would_answer() -> None:
    host = Host(rule=by_text)
    async with host.runtime() as runtime:
        await granted(runtime)
        assert [await status(runtime, path) for path in ("/srv/prod", "/srv/test")] == ["suspended", "ok"]
        assert "grant" not in (await asked(runtime, "/srv/prod")).answer_schema["properties"]
