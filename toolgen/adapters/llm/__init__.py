"""A planner that asks a large language model, by the model classes of pydantic-ai: `toolgen[llm]`."""

from .planner import LLMPlanner

__all__ = ["LLMPlanner"]
