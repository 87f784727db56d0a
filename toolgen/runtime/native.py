"""The name of `NativeTool` in generated code of before: `toolgen.runtime` has it now."""

from toolgen.calls.specs import NativeTool

__all__ = ["NativeTool"]
