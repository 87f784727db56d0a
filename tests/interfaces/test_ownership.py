"""No route lets somebody in whom the host does not know."""

from __future__ import annotations

import pytest

from tests.adapters.http.shop import problem, served

from .every_route import ROUTES


@pytest.mark.parametrize(("method", "path", "name"), ROUTES)
async def test_no_route_lets_nobody_in(method: str, path: str, name: str) -> None:
    async with served() as shop:
        answer = await shop.client.request(method, path, headers={"x-caller": "nobody"})
    assert problem(answer) == (401, "unauthenticated"), name
