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
    """A kind of artifact that a tool can return. Generated code declares it as a constant."""

    kind: str
    codec: Codec[D]
    description: str = ""
    """Text for developers of user interfaces."""
    view: ArtifactView | None = None
    """How a user interface shows the data."""
    audience: ArtifactAudience = "user"
    """`user`, or `model` if the model can load it."""

    def of(self, data: D) -> Artifact:
        """Return an artifact with the data.

        Raises:
            MalformedResultError: The data is not of the class that the design declares.
        """
        expected: Any = self.codec.type
        is_model = isinstance(expected, type) and issubclass(expected, ToolModel)
        if is_model and not isinstance(data, expected):
            raise MalformedResultError(
                f"the artifact {self.kind} must be of type {self.codec.name}, not {type(data).__name__}"
            )
        return Artifact(kind=self.kind, data=data)

    def get(self, result: ToolResult) -> D | None:
        """Return the data of the result's first artifact of this kind."""
        own = (artifact.data for artifact in result.artifacts if artifact.kind == self.kind)
        return next((data for data in own if isinstance(data, self.codec.type)), None)


class SeenResult(Protocol):
    """A model's view of a call's result, for example a planner's `ToolAnswer`."""

    @property
    def status(self) -> ToolStatus: ...
    @property
    def text(self) -> str: ...


@frozen_record(kw_only=False)
class ErrorSpec(Generic[E]):
    """A declared error of a tool or of a service method. Generated code declares it as a constant."""

    name: str
    """Name of the error, which the model reads as `code`."""
    codec: Codec[E] | None = None
    """Codec of the details; None if the error has none, and for an error of a service method."""
    description: str = ""
    is_retryable: bool = False
    """Whether the same call can succeed a moment later."""

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
        """Return the error to raise. The model reads the message and the details.

        Raises:
            MalformedResultError: The details are missing or not of the type that the design declares.
        """
        if self.codec is not None:
            if details is None:
                raise MalformedResultError(
                    f"the error {self.name} needs details; write .of(message, {self.codec.name}(…))"
                )
            try:
                self.codec.encode(details)
            except MalformedResultError as error:
                raise MalformedResultError(
                    f"the details of the error {self.name} do not fit: {error}"
                ) from None
        return DeclaredError(
            message,
            code=self.name,
            details=details,
            cause=cause,
            retry_hint=retry_hint,
            is_retryable=self.is_retryable,
        )

    def matches(self, result: ToolResult | SeenResult | str | bytes) -> bool:
        """Return whether a call ended with this error.

        Pass a `ToolResult`, a planner's `ToolAnswer`, or the JSON that the model saw. The JSON alone is
        ambiguous: a successful result with the fields `error` and `code` matches too.
        """
        if isinstance(result, ToolResult):
            return isinstance(result.error, DeclaredError) and result.error.code == self.name
        return _error_document(result).get("code") == self.name

    def get(self, result: ToolResult | SeenResult | str | bytes) -> E | None:
        """Return the details of a call that ended with this error; None if it did not.

        The argument is as in `matches`. The result is also None if the details were too long, if they do not
        fit the design, or if they are sensitive and the result was read from the log of its run.
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
        """Return details from JSON text; None if they do not fit."""
        assert self.codec is not None, "it has details"
        try:
            return self.codec.decode_null_as_absent(details)
        except ToolValidationError:
            return None


def _error_document(seen: SeenResult | str | bytes) -> dict[str, object]:
    """Return the JSON of a failed call; an empty object if it has none."""
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
    """The result shows a part of more data."""

    attribute: str = field(init=False, repr=False)
    """Attribute of the result that has the list; "" if there is none."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "attribute", field_name(self.items) if self.items else "")


@frozen_record
class ConfirmSpec(tool_facts.Confirmation[Codec]):
    """Approval that a tool requires before it runs."""


@frozen_record
class LongRunningSpec(tool_facts.LongRunning[Codec]):
    """Acknowledgement and progress of a tool whose result can arrive later, as codecs."""


# No slots, so that values that every call needs can be cached on the spec.
@frozen_record(slots=False)
class ToolSpec(ToolFacts, Generic[P, R]):
    """Description of a tool. Generated code declares it as a constant, and `func_tool` creates it.

    Decide by `hints`, which has a value for each behavior hint. `annotations` has only those of the author.
    """

    id: str
    """ID, such as `home.devices.rename`: service, toolset and name."""
    payload: Codec[P]
    """Codec of the arguments."""
    result: Codec[R]
    """Codec of the result."""
    name: str = ""
    """Wire name, which the model calls; by default the last part of the ID."""
    method: str = ""
    """Method of the executor; by default the wire name."""
    injected: tuple[str, ...] = ()
    """JSON keys of the injected fields."""
    bounded: BoundedSpec | None = None
    """Fields of a bounded result."""
    artifacts: Mapping[str, ArtifactSpec] = field(default_factory=dict)
    """Kinds of artifacts, by name."""
    errors: Mapping[str, ErrorSpec] = field(default_factory=dict)
    """Declared errors, by name."""
    example: str | None = None
    """First example of arguments, as JSON text."""
    confirm: ConfirmSpec | None = None
    """Approval that the tool requires."""
    long_running: LongRunningSpec | None = None
    """Acknowledgement and progress, if the result can arrive later."""
    binding: tuple[str, str] | None = None
    """Service and method that implement the tool, if the design binds it."""
    max_result_bytes: int | None = None
    """Maximum bytes of JSON that the model gets; None for `Limits.result_bytes`."""

    def __post_init__(self) -> None:
        own = self.id.rpartition(".")[2]
        object.__setattr__(self, "name", self.name or own)
        object.__setattr__(self, "title", self.title or title(own))
        object.__setattr__(self, "method", self.method or self.name)

    @property
    def codecs(self) -> tuple[Codec, ...]:
        """Codecs of all values that are converted from or to JSON."""
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
        """Whether an argument, a result or another value of the tool is sensitive."""
        return any(codec.sensitive for codec in self.codecs)

    @cached_property
    def _parts(self) -> PartReader:
        """Reader for results of a lenient tool that do not fit."""
        from toolgen.shapes.parts import PartReader  # few results need it

        return PartReader(self.result.type)

    @property
    def may_repeat(self) -> bool:
        """Whether a call can be repeated, because the tool is read-only or idempotent."""
        return any(self.annotations.get(hint) for hint in ("idempotent", "read_only"))

    @property
    def digest(self) -> str:
        """Digest of the tool's catalog entry."""
        from toolgen.catalog.entry import tool_digest, tool_entry  # ordinary calls need no catalog

        return tool_digest(tool_entry(self.record()))

    @cached_property
    def approval_digest(self) -> str:
        """Digest of the schemas, injected fields and behavior hints. If it changes, approvals become
        invalid."""
        addition = self.confirm.payload.schema_json if self.confirm and self.confirm.payload else ""
        contract = [self.id, self.payload.schema_json, self.result.schema_json, addition, *self.injected]
        contract_digest = _hex("\n".join(contract))
        return _hex(f"{contract_digest}\n{json.dumps(sorted(self.hints.items()))}")

    @property
    def output_schema(self) -> dict[str, Any]:
        """JSON Schema of what the model gets immediately: a result or an acknowledgement; any value if
        lenient."""
        ack = self.long_running.ack if self.long_running else None
        from toolgen.catalog.entry import output_schema

        ack_type = _type(ack) if ack else None
        return output_schema(_type(self.result), ack_type, is_lenient=self.is_lenient)

    @property
    def hints(self) -> dict[Hint, bool]:
        """All behavior hints, with MCP's careful defaults for those that the author did not set."""
        from toolgen.catalog.entry import behaviour_hints

        return behaviour_hints(self.annotations)

    @property
    def toolset(self) -> str:
        """ID of the toolset, such as `home.devices`."""
        return self.id.rpartition(".")[0]

    def record(self, toolset: ToolsetRecord | None = None) -> ToolRecord:
        """Return the catalog record of the tool, without the facts that only a design has."""
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
    """A tool that the model's provider executes. Created by generated code."""

    id: str
    """`service.toolset.kind`."""
    provider: str
    kind: str
    """The provider's name for the tool."""
    config: Mapping[str, Json] = field(default_factory=dict)
    """Settings in the provider's format."""
