"""Planners by name: `demo`, or a model such as `openai:gpt-5`."""

from __future__ import annotations

from .model_names import DEMO, ModelName
from .planner import Planner


def check_name(name: str) -> None:
    """Raise where a text is not the name of a planner; nothing is imported.

    Raises:
        RegistrationError: as said.
    """
    if name != DEMO:
        ModelName.parse(name)


def named_planner(planner: Planner | str) -> Planner:
    """Return a planner, made of its name where that is what it is.

    Raises:
        ToolgenError: it names none, or its model cannot be asked: a package or a key is missing.
    """
    if not isinstance(planner, str):
        return planner
    check_name(planner)
    if planner == DEMO:
        from ..demo.planner import DemoPlanner

        return DemoPlanner()
    from ..llm.planner import LLMPlanner  # with the packages of its provider

    return LLMPlanner(planner)
