"""Failures of a provider as errors of a planner."""

from __future__ import annotations

import pytest
from pydantic_ai.exceptions import ModelConnectionError

from toolgen.agents.llm.failures import ProviderError, planner_error


@pytest.mark.parametrize(("has_begun", "most"), [(True, 3), (False, None)])
def test_a_connection_that_breaks_within_an_answer_costs_money(has_begun: bool, most: int | None) -> None:
    error = planner_error(ModelConnectionError("it", "reset by peer"), "it", has_begun=has_begun)
    assert isinstance(error, ProviderError)
    assert error.most_attempts == most
