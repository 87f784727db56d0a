"""The name of `Engine` in programs that `toolgen init` wrote before: `toolgen.runs` has it now."""

from toolgen.runs import Engine

__all__ = ["Engine"]
