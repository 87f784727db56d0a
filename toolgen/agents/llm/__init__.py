"""A planner that uses a large language model through the model classes of pydantic-ai: `toolgen[llm]`."""
