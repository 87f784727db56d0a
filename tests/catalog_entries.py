"""The catalog entry of a registered tool, generated or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolgen.catalog.entry import tool_entry

if TYPE_CHECKING:
    from toolgen.calls.specs import ToolSpec
    from toolgen.calls.toolsets.registration import ToolsetRegistration
    from toolgen.contract.json_value import Json


def catalog_entry(spec: ToolSpec[Any, Any], toolset: ToolsetRegistration | None = None) -> dict[str, Json]:
    """Return the tool as `tool_schemas.json` has it, less the `DESIGN_ONLY` facts but one example.

    `toolset` adds what is said of all its tools.
    """
    return tool_entry(spec.record(None if toolset is None else toolset.record()))
