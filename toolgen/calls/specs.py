"""Specs of tools, constants that generated code declares for the runtime, and tools that providers run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Protocol, overload

from pydantic import BaseModel
from typing_extensions import TypeVar

from toolgen.contract import tool_facts
from toolgen.contract.record import frozen_record
from toolgen.contract.tool_facts import ToolFacts
from toolgen.shapes.design.model import ToolModel
from toolgen.shapes.naming import field_name, title

from .call import NO_META, CallMeta, ToolCall
from .codec import Codec
from .errors import DeclaredError, MalformedResultError, ToolError, ToolValidationError
from .results import Artifact, RetryHint, ToolResult, ToolStatus

if TYPE_CHECKING:
    from toolgen.catalog.entry import ToolRecord, ToolsetRecord, TypeRecord
    from toolgen.contract.json_value import Json
    from toolgen.contract.names import ArtifactAudience, ArtifactView, Hint
    from toolgen.shapes.parts import PartReader

P = TypeVar("P", bound=ToolModel, default=Any)
R = TypeVar("R", default=Any)
D = TypeVar("D", bound=ToolModel, default=Any)
E = TypeVar("E", bound=BaseModel | None, default=Any)


@frozen_record(kw_only=False)
class ArtifactSpec(Generic[D]):
    """One kind of artifact of a tool."""

    kind: str
    codec: Codec[D]
    description: str = ""
    view: ArtifactView | None = None
    """How a user interface shows it."""
    audience: ArtifactAudience = "user"

    def of(self, data: D) -> Artifact:
        """Return the artifact that carries the data.

        Raises:
            MalformedResultError: the data is not of the class that the design gives.
        """
        expected: Any = self.codec.type
        is_model = isinstance(expected, type) and issubclass(expected, ToolModel)
        if is_model and not isinstance(data, expected):
            raise MalformedResultError(
                f"the artifact {self.kind} carries {self.codec.name}, got {type(data).__name__}"
            )
        return Artifact(kind=self.kind, data=data)

    def get(self, result: ToolResult) -> D | None:
        """Return the data of the result's first artifact of this kind."""
        own = (artifact.data for artifact in result.artifacts if artifact.kind == self.kind)
        return next((data for data in own if isinstance(data, self.codec.type)), None)


class SeenResult(Protocol):
    """What a model saw of a call, such as a planner's `ToolAnswer`."""

    @property
    def status(self) -> ToolStatus: ...
    @property
    def text(self) -> str: ...


@frozen_record(kw_only=False)
class ErrorSpec(Generic[E]):
    """One declared error of a tool, or of a method behind tools."""

    name: str
    codec: Codec[E] | None = None
    """The codec of the details; None for an error without them, and for that of a method."""
    description: str = ""
    is_retryable: bool = False
    """The same call may work a moment later."""

    @overload
    def of(
        self: ErrorSpec[None],
        message: str,
        *,
        cause: ToolError | None = None,
        retry_hint: RetryHint | None = None,
    ) -> DeclaredError: ...
    @overload
    def of(
        self,
        message: str,
        details: E,
        *,
        cause: ToolError | None = None,
        retry_hint: RetryHint | None = None,
    ) -> DeclaredError: ...
    def of(
        self,
        message: str,
        details: Any = None,
        *,
        cause: ToolError | None = None,
        retry_hint: RetryHint | None = None,
    ) -> DeclaredError:
        """Return the error to raise: the message and the details are for the model.

        Raises:
            MalformedResultError: the details are not of the type that the design gives, or are missing.
        """
        if self.codec is not None:
            if details is None:
                raise MalformedResultError(
                    f"the error {self.name} has details, which are missing; "
                    f"write .of(message, {self.codec.name}(…))"
                )
            try:
                self.codec.encode(details)
            except MalformedResultError as error:
                raise MalformedResultError(f"the details of the error {self.name}: {error}") from None
        return DeclaredError(
            message,
            code=self.name,
            details=details,
            cause=cause,
            retry_hint=retry_hint,
            is_retryable=self.is_retryable,
        )

    def matches(self, result: ToolResult | SeenResult | str | bytes) -> bool:
        """Return whether a call ended in this error; of a call elsewhere, by what the model saw.

        The text alone does not say how the call ended: that of a good result whose fields are `error` and
        `code` matches too. Give the `ToolResult` or the planner's `ToolAnswer` where there is one.
        """
        if isinstance(result, ToolResult):
            return isinstance(result.error, DeclaredError) and result.error.code == self.name
        return _error_document(result).get("code") == self.name

    def get(self, result: ToolResult | SeenResult | str | bytes) -> E | None:
        """Return the details of a call that ended in this error, from the same as `matches`.

        None where it did not, where the error has no details, where they were longer than what goes out, and
        where they do not fit the design, as those of another version of the tool. Of a call whose result was
        read from the log of its run, sensitive details are not there either.
        """
        if self.codec is None or not self.matches(result):
            return None
        if isinstance(result, ToolResult):
            error = result.error
            assert isinstance(error, DeclaredError), "it matches"
            if error.details is None and error.details_json:
                return None if self.codec.sensitive else self._decoded(error.details_json)
            details: Any = error.details
            return details if isinstance(details, self.codec.type) else None
        document = _error_document(result)
        return self._decoded(json.dumps(document["details"])) if "details" in document else None

    def _decoded(self, details: bytes | str) -> E | None:
        """Return details from JSON text; None where they do not fit."""
        assert self.codec is not None, "it has details"
        try:
            return self.codec.decode_null_as_absent(details)
        except ToolValidationError:
            return None


def _error_document(seen: SeenResult | str | bytes) -> dict[str, object]:
    """Return the JSON of a failed call; an empty object where it is none."""
    if not isinstance(seen, str | bytes):
        if seen.status != "error":
            return {}
        seen = seen.text
    try:
        document = json.loads(seen)
    except ValueError:
        return {}
    return document if isinstance(document, dict) and isinstance(document.get("error"), str) else {}


@frozen_record
class BoundedSpec(tool_facts.Bounded):
    """The result shows part of more data."""

    attribute: str = field(init=False, repr=False)
    """The list as an attribute of the result; "" without one."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "attribute", field_name(self.items) if self.items else "")


@frozen_record
class ConfirmSpec(tool_facts.Confirmation[Codec]):
    """A person must approve the call."""


@frozen_record
class LongRunningSpec(tool_facts.LongRunning[Codec]):
    """The tool may answer later; `Runtime.waits.progress` takes what its `progress` decodes."""


# Without slots of its own, so that what is found once of a tool, and asked for with every call, can be kept.
@frozen_record(slots=False)
class ToolSpec(ToolFacts, Generic[P, R]):
    """One tool: its facts, names, codecs and rules.

    `title` is made of the tool's own name unless it is given. `annotations` are the hints that the author
    set; `hints` are what to decide by.
    """

    id: str
    """`service.toolset.tool`."""
    payload: Codec[P]
    result: Codec[R]
    name: str = ""
    """The wire name, which the model calls; the tool's own name unless it is given."""
    method: str = ""
    """The executor's method; called `name` unless it is given."""
    injected: tuple[str, ...] = ()
    """JSON keys of the fields that the server fills."""
    bounded: BoundedSpec | None = None
    artifacts: Mapping[str, ArtifactSpec] = field(default_factory=dict)
    """The artifacts beside a result, by kind."""
    errors: Mapping[str, ErrorSpec] = field(default_factory=dict)
    """The declared errors, by name."""
    example: str | None = None
    """The author's first example of a payload, as JSON text."""
    confirm: ConfirmSpec | None = None
    long_running: LongRunningSpec | None = None
    binding: tuple[str, str] | None = None
    """Service and method that implement the tool, where its design binds it."""
    max_result_bytes: int | None = None
    """The most bytes of JSON that the model gets; None for the runtime's own limit."""

    def __post_init__(self) -> None:
        own = self.id.rpartition(".")[2]
        object.__setattr__(self, "name", self.name or own)
        object.__setattr__(self, "title", self.title or title(own))
        object.__setattr__(self, "method", self.method or self.name)

    @property
    def codecs(self) -> tuple[Codec, ...]:
        """The codecs of all values that cross the JSON boundary."""
        late = self.long_running
        further = (
            *(artifact.codec for artifact in self.artifacts.values()),
            *(error.codec for error in self.errors.values()),
            self.confirm.payload if self.confirm else None,
            *((late.ack, late.progress) if late else ()),
        )
        return (self.payload, self.result, *(codec for codec in further if codec is not None))

    @cached_property
    def is_sensitive(self) -> bool:
        """Whether anything that the tool takes or gives has sensitive values."""
        return any(codec.sensitive for codec in self.codecs)

    @cached_property
    def _parts(self) -> PartReader:
        """What reads results that do not fit, of a lenient tool."""
        from toolgen.shapes.parts import PartReader  # few results do not fit

        return PartReader(self.result.type)

    @property
    def may_repeat(self) -> bool:
        """Whether a second call does nothing more than the first: it only reads, or is idempotent."""
        return any(self.annotations.get(hint) for hint in ("idempotent", "read_only"))

    @property
    def digest(self) -> str:
        """A digest that changes with the tool's catalogue entry, `toolgen.catalog.entry.tool_digest`."""
        from toolgen.catalog.entry import tool_digest, tool_entry  # no plain call needs catalogues

        return tool_digest(tool_entry(self.record()))

    @cached_property
    def approval_digest(self) -> str:
        """SHA-256 in hex, which changes with a schema, an injected field or a behaviour hint.

        These are what policies and people decide by. Texts for people are not, nor is the confirmation:
        agents and views ask in words of their own.
        """
        addition = self.confirm.payload.schema_json if self.confirm and self.confirm.payload else ""
        contract = [self.id, self.payload.schema_json, self.result.schema_json, addition, *self.injected]
        contract_digest = _hex("\n".join(contract))
        return _hex(f"{contract_digest}\n{json.dumps(sorted(self.hints.items()))}")

    @property
    def output_schema(self) -> dict[str, Any]:
        """JSON Schema of what the model gets of a call at once: the result, or an acknowledgement of it.

        Of a lenient tool it is the result, or anything.
        """
        ack = self.long_running.ack if self.long_running else None
        from toolgen.catalog.entry import output_schema

        ack_type = _type(ack) if ack else None
        return output_schema(_type(self.result), ack_type, is_lenient=self.is_lenient)

    @property
    def hints(self) -> dict[Hint, bool]:
        """All behaviour hints; MCP's defaults where the author set none."""
        from toolgen.catalog.entry import behaviour_hints

        return behaviour_hints(self.annotations)

    @property
    def toolset(self) -> str:
        """The id without the tool: `service.toolset`."""
        return self.id.rpartition(".")[0]

    def record(self, toolset: ToolsetRecord | None = None) -> ToolRecord:
        """Return the catalogue record of the tool, without facts that only a design knows."""
        from toolgen.catalog.entry import ToolRecord, ToolsetRecord

        return ToolRecord(
            id=self.id,
            name=self.name,
            facts=self,
            payload=_type(self.payload, () if self.example is None else (json.loads(self.example),)),
            result=_type(self.result),
            toolset=toolset or ToolsetRecord(),
            bounded=self.bounded,
            artifacts=tuple(
                tool_facts.Artifact(
                    kind=kind,
                    type=_type(artifact.codec),
                    description=artifact.description,
                    view=artifact.view,
                    audience=artifact.audience,
                )
                for kind, artifact in self.artifacts.items()
            ),
            errors=tuple(_error(error) for error in self.errors.values()),
            confirmation=self.confirm.typed(_type) if self.confirm else None,
            long_running=self.long_running.typed(_type) if self.long_running else None,
            injected=self.injected,
            binding=self.binding,
        )


class CallBuilder(Generic[P]):
    """Builds calls of one tool from its typed payload, for `Runtime.call_all`."""

    __slots__ = ("_spec",)

    def __init__(self, spec: ToolSpec[P, Any]) -> None:
        self._spec = spec

    def __call__(self, payload: P, meta: CallMeta = NO_META) -> ToolCall:
        """Return the call that a model would make with these arguments."""
        return ToolCall(tool=self._spec.id, payload_json=self._spec.payload.encode(payload), meta=meta)


def _hex(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _error(of: ErrorSpec) -> tool_facts.Error[TypeRecord]:
    details = _type(of.codec) if of.codec else None
    return tool_facts.Error(
        name=of.name, description=of.description, type=details, is_retryable=of.is_retryable
    )


def _type(codec: Codec, examples: tuple[Json, ...] = ()) -> TypeRecord:
    from toolgen.catalog.entry import TypeRecord
    from toolgen.shapes.sensitive import pointers_of

    return TypeRecord(
        name=codec.name,
        schema=codec.schema,
        examples=examples,
        noted_formats=codec.noted_formats,
        sensitive=pointers_of(codec.sensitive),
    )


@frozen_record
class NativeTool:
    """A tool that the model's provider runs itself. Constructed by generated code."""

    id: str
    """`service.toolset.kind`."""
    provider: str
    kind: str
    """The provider's name of the tool."""
    config: Mapping[str, Json] = field(default_factory=dict)
    """Its settings, as the provider takes them."""
