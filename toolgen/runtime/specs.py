"""What the runtime knows of a tool: constants that generated code declares."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from toolgen.contract.json_value import Json
from toolgen.contract.names import MCP_HINTS, Hint
from toolgen.shapes.design.model import ToolModel
from toolgen.shapes.foreign.schema import any_of
from toolgen.shapes.naming import field_name, title

from .codec import Codec
from .results import Artifact, ToolResult

P = TypeVar("P", bound=ToolModel)
R = TypeVar("R")
D = TypeVar("D", bound=ToolModel)


@dataclass(frozen=True, slots=True)
class ArtifactSpec(Generic[D]):
    """One kind of artifact of a tool."""

    kind: str
    codec: Codec[D]

    def of(self, data: D) -> Artifact:
        """Return the artifact that carries the data."""
        return Artifact(kind=self.kind, data=data)

    def get(self, result: ToolResult) -> D | None:
        """Return the data of the result's first artifact of this kind."""
        for artifact in result.artifacts:
            if artifact.kind == self.kind and isinstance(artifact.data, self.codec.type):
                return artifact.data
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedSpec:
    """The result is a window; both cursors are JSON keys, or None without paging."""

    cursor: str | None = None
    next_cursor: str | None = None
    items: str | None = None
    """JSON key of the result's only list, which `returned` counts; None where the executor knows better."""
    attribute: str = field(init=False, repr=False)
    """The list as an attribute of the result; "" without one."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "attribute", field_name(self.items) if self.items else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmSpec:
    """A person must approve the call."""

    hint: str = ""
    """What the person is asked; `{field}` stands for an argument."""
    when: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)
    """Only when each of these arguments has one of the values; always when empty."""
    payload: Codec[Any] | None = None
    """What the person may add to an approval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LongRunningSpec:
    """The tool may answer later."""

    ack: Codec[Any] | None = None
    """What the model gets at once."""
    progress: Codec[Any] | None = None
    """What `Runtime.progress` takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec(Generic[P, R]):
    """One tool: its names, its codecs and its rules."""

    id: str
    """`service.toolset.tool`."""
    description: str
    payload: Codec[P]
    result: Codec[R]
    name: str = ""
    """The wire name, which the model calls; the tool's own name unless it is given."""
    title: str = ""
    """For people; made of the tool's own name unless it is given."""
    method: str = ""
    """The executor's method; called `name` unless it is given."""
    injected: tuple[str, ...] = ()
    """JSON keys of the fields that the server fills."""
    bounded: BoundedSpec | None = None
    artifacts: Mapping[str, ArtifactSpec[Any]] = field(default_factory=dict)
    """By kind."""
    tags: tuple[str, ...] = ()
    annotations: Mapping[Hint, bool] = field(default_factory=dict)
    """The hints that the author set; `hints` are what to decide by."""
    meta: Mapping[str, Json] = field(default_factory=dict)
    example: str | None = None
    """The author's first example of a payload, as JSON text."""
    confirm: ConfirmSpec | None = None
    long_running: LongRunningSpec | None = None
    timeout: float | None = None
    """Seconds that one execution may take."""
    is_sequential: bool = False
    """Runs alone among the sequential tools of its runtime."""
    is_terminal: bool = False
    """Its result ends the turn."""
    is_bookkeeping: bool = False
    """Its calls count against no limit of a run."""
    instructions: str = ""
    """What the model is told with the tool."""
    reminder: str = ""
    """What the model is told after each result."""
    call_hint: str = ""
    """For people, before the call; `{field}` stands for an argument."""
    result_hint: str = ""
    """For people, after it; `{field}` stands for a field of the result."""
    needs: tuple[str, ...] = ()
    """Capabilities that its executor uses."""
    max_result_bytes: int | None = None
    """The most bytes of JSON that the model gets; None for the runtime's own limit."""

    def __post_init__(self) -> None:
        own = self.id.rpartition(".")[2]
        object.__setattr__(self, "name", self.name or own)
        object.__setattr__(self, "title", self.title or title(own))
        object.__setattr__(self, "method", self.method or self.name)

    @property
    def digest(self) -> str:
        """Changes when the contract of the arguments or of the result does: SHA-256, in hex."""
        approval = self.confirm.payload.schema_json if self.confirm and self.confirm.payload else ""
        parts = [self.id, self.payload.schema_json, self.result.schema_json, approval, *self.injected]
        text = "\n".join(parts)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def approval_digest(self) -> str:
        """Changes when `digest` or a behaviour hint does: what policies and people decide by; SHA-256 in hex.

        Not with texts for people, nor with the confirmation: agents and views ask in words of their own.
        """
        hints = json.dumps(sorted(self.hints.items()))
        return hashlib.sha256(f"{self.digest}\n{hints}".encode()).hexdigest()

    @property
    def output_schema(self) -> dict[str, Any]:
        """JSON Schema of what the model gets of a call at once: the result, or an acknowledgement of it."""
        schemas = {self.result.name: self.result.schema}
        ack = self.long_running.ack if self.long_running else None
        return any_of(schemas if ack is None else {ack.name: ack.schema, **schemas})

    @property
    def hints(self) -> dict[Hint, bool]:
        """All behaviour hints: where the author said nothing, MCP's careful default."""
        hints: dict[Hint, bool] = {"edit": False}
        hints.update((hint, default) for hint, (_, default) in MCP_HINTS.items())
        if self.annotations.get("read_only"):
            hints["destructive"] = False
        hints.update(self.annotations)
        return hints

    @property
    def toolset(self) -> str:
        """The id without the tool: `service.toolset`."""
        return self.id.rpartition(".")[0]
