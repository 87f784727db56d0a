"""What could not be done is told by an exit code or a status, and by nothing that looks as if it had."""

from __future__ import annotations

import pytest

from tests.adapters.http.shop import problem, served
from tests.conftest import ProjectFolder

from .every_route import ROUTES
from .test_cancellation import LOADING, ended_by

BODIES = {
    "answer": {"answer": 1},
    "intermediate": {"key": "a", "value": 1},
    "resolve": {"outcome": "not_run"},
    "messages": {"message": "hello"},
}


@pytest.mark.parametrize("name", LOADING)
def test_a_project_that_does_not_load_is_no_success(project: ProjectFolder, name: str) -> None:
    done = ended_by(project, name, "LookupError('no such hall')")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert "LookupError: no such hall" in done.err


@pytest.mark.parametrize(("method", "path"), [one[:2] for one in ROUTES if "{" in one[2]])
async def test_what_a_route_does_not_find_is_a_problem(method: str, path: str) -> None:
    async with served() as shop:
        body = BODIES.get(path.rpartition("/")[2], {}) if method == "POST" else None
        answer = await shop.client.request(method, path, json=body)
    is_tool = path.startswith("/tools/")
    assert problem(answer) == (404, "unknown-tool" if is_tool else "not-found")
