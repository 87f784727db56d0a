"""A planner that asks a large language model, by the model classes of pydantic-ai: `toolgen[llm]`."""
