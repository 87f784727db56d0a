"""What a client on Temporal is told where the server refuses a request."""

from __future__ import annotations

import pytest
from temporalio.service import RPCError, RPCStatusCode

from toolgen.engines import EngineError
from toolgen.engines.temporal.failures import of_server


def test_a_namespace_without_search_attributes_has_the_command_that_adds_them() -> None:
    message = "Namespace default has no mapping defined for search attribute ToolgenAgent"
    with pytest.raises(EngineError) as raised, of_server():
        raise RPCError(message, RPCStatusCode.INVALID_ARGUMENT, b"")
    assert raised.value.message == f"the Temporal server returned INVALID_ARGUMENT: {message}"
    assert raised.value.hint == (
        "start a worker, which adds them (toolgen worker), or run: temporal operator search-attribute create "
        "--name ToolgenSession --type Keyword --name ToolgenAgent --type Keyword "
        "--name ToolgenTurn --type Keyword --name ToolgenWaits --type KeywordList"
    )


def test_a_server_that_is_away_has_a_hint_of_its_own() -> None:
    with pytest.raises(EngineError) as raised, of_server():
        raise RPCError("connection refused", RPCStatusCode.UNAVAILABLE, b"")
    assert raised.value.hint == "check that it is running and that its namespace exists"
