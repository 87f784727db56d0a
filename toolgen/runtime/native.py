"""The name of `NativeTool` in generated code of before: `toolgen.runtime` has it now."""

from toolgen.calls.native import NativeTool

__all__ = ["NativeTool"]
