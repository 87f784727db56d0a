"""Planners by name: `demo`, or a model name, for example `openai:gpt-5`."""

from __future__ import annotations

from .model_names import DEMO, ModelName
from .planner import Planner


def check_name(name: str) -> None:
    """Raise if a text is not the name of a planner; nothing is imported.

    Raises:
        RegistrationError: the text is not the name of a planner.
    """
    if name != DEMO:
        ModelName.parse(name)


def named_planner(planner: Planner | str) -> Planner:
    """Return a planner, created from its name if it is a name.

    Raises:
        ToolgenError: there is no planner with this name, or its model cannot be used because a package or a
            key is missing.
    """
    if not isinstance(planner, str):
        return planner
    check_name(planner)
    if planner == DEMO:
        from ..demo.planner import DemoPlanner

        return DemoPlanner()
    from ..llm.planner import LLMPlanner  # imports the packages of its provider

    return LLMPlanner(planner)
