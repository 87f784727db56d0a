"""The result of reading a source: the tools in it, and the findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Literal, TypeAlias

from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record

if TYPE_CHECKING:
    from toolgen.contract.findings import Finding
    from toolgen.contract.tool_facts import Icon

Kind: TypeAlias = Literal["jsonschema", "openapi", "mcp", "python", "catalog"]
"""Kind of a source."""


@frozen_record
class ImportedTool:
    """A tool as its source describes it; only its shape is validated."""

    name: str
    """Original name in the source, for example `math.factorial` or `API-patch-page`."""
    description: str
    arguments: object
    """Original JSON Schema, an object or a boolean."""
    result: object = None
    """Original JSON Schema; None if the source has none."""
    title: str = ""
    annotations: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """MCP hints by their names in a design: read_only, destructive, idempotent, open_world."""
    tags: tuple[str, ...] = ()
    icons: tuple[Icon, ...] = ()
    deprecated: str = ""
    """Reason not to use the tool any more; "" for a tool that is not deprecated."""
    is_confirmed: bool = False
    """Whether a person must approve each call."""
    pointer: str = ""
    """JSON Pointer (RFC 6901) of the tool in its source."""
    arguments_pointer: str = ""
    result_pointer: str = ""
    formats_are_types: bool = False
    """Whether `"format": "date-time"` means a datetime, as it does in a Python source."""
    examples: tuple[dict[str, Json], ...] = ()
    function: str = ""
    """Existing function that executes the tool, as `package.module:function`; "" for none."""


@frozen_record
class ReaderResult:
    """The result of a reader."""

    name: str
    """Suggested name of the toolset, as any text: the stem of the file, or the name of the module."""
    description: str
    tools: tuple[ImportedTool, ...]
    findings: tuple[Finding, ...]
    """Findings with pointers into the source; the reader adds the file."""
    module: str = ""
    """Module whose functions execute the tools; "" for none."""
