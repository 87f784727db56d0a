"""Payloads for the server: only JSON, encoded by the codec of the host.

Large values are stored outside the server: a codec stores them and leaves references in histories.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, Final

from temporalio import activity, workflow
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue
from temporalio.converter import (
    ActivitySerializationContext,
    DataConverter,
    DefaultFailureConverter,
    DefaultFailureConverterWithEncodedAttributes,
    PayloadCodec,
    PayloadConverter,
    SerializationContext,
    WithSerializationContext,
)
from temporalio.exceptions import ApplicationError

from toolgen.contract.record import frozen_record

from ..engine import PayloadStore
from ..errors import EngineError, PayloadGoneError
from ..in_process.journal import decode, encode

ENCODING: Final = "json/plain"
_REFERENCE: Final = "toolgen/reference"
"""Encoding of a payload that is a reference to another payload."""
GONE: Final = "toolgen/gone"
"""Encoding of a payload that has an error text instead of the missing data; it is never sent."""
_GONE_HINT: Final = (
    "cancel the run if it is not over, and erase its session; "
    "prune payloads only after the server has deleted their runs"
)
_REPLAYED: Final = "toolgen-replayed"
"""Metadata key of a payload that a replay creates again; the history already has it."""
UNUSABLE: Final = "the store of large values cannot be used"
"""Text in the message of a workflow task that failed because of the store; the server retries the task."""


class NotJsonError(EngineError):
    """A payload is not JSON."""


class JsonPayloads(PayloadConverter):
    """Serializes values as JSON, and returns decoded JSON regardless of the requested type."""

    def to_payloads(self, values: Sequence[object]) -> list[Payload]:
        """Return the payloads of values.

        Raises:
            EngineError: one of them is not JSON.
        """
        return [value.payload if isinstance(value, RawValue) else _payload(value) for value in values]

    def from_payloads(self, payloads: Sequence[Payload], type_hints: list[type] | None = None) -> list[Any]:
        """Return the values.

        Raises:
            NotJsonError: one of them is not JSON.
            PayloadGoneError: one was erased or pruned; in an activity it is an `ApplicationError`.
            EngineError: one is a reference that no codec has resolved.
        """
        return [
            RawValue(payload) if hint is RawValue else _value(payload)
            for payload, hint in zip_longest(payloads, type_hints or ())
        ]


def _payload(value: object) -> Payload:
    text, _ = encode(value, "a value for the server")
    metadata = {"encoding": ENCODING.encode()}
    if workflow.in_workflow() and workflow.unsafe.is_replaying():
        metadata[_REPLAYED] = b""
    return Payload(metadata=metadata, data=text)


def _value(payload: Payload) -> object:
    encoding = _encoding_of(payload)
    if encoding == GONE:
        message = payload.data.decode()
        if activity.in_activity():
            raise ApplicationError(message, type=PayloadGoneError.__name__, non_retryable=True)
        raise PayloadGoneError(message, hint=_GONE_HINT)
    if encoding == _REFERENCE:
        raise EngineError(
            "a large value of the run is in a store that this process lacks",
            hint="pass the same store to all processes: TemporalEngine(payloads=…)",
        )
    if encoding != ENCODING:
        raise NotJsonError(f"a payload has the encoding {encoding!r}, which is not {ENCODING}")
    try:
        return decode(payload.data)
    except ValueError as error:
        raise NotJsonError(f"a payload is not JSON: {error}") from error


def data_converter(codec: PayloadCodec | None) -> DataConverter:
    """Return the converter for all clients and workers of an engine; a codec also encodes failures."""
    return replace(
        DataConverter.default,
        payload_converter_class=JsonPayloads,
        payload_codec=codec,
        failure_converter_class=(
            DefaultFailureConverter if codec is None else DefaultFailureConverterWithEncodedAttributes
        ),
    )


class StoreAwayError(EngineError):
    """The large-value store cannot be used now."""


@frozen_record
class OffloadingCodec(PayloadCodec, WithSerializationContext):
    """Stores large encoded payloads in a store, separately for each workflow.

    The codec of the host encodes them first, so the store only has encrypted data if the codec encrypts.
    """

    store: PayloadStore
    codec: PayloadCodec | None
    """Codec of the host, which encodes every payload."""
    larger_than: int
    """Maximum number of bytes of an encoded payload on the server; larger ones go to the store."""
    prefix: str
    """Prefix of the workflow id, before the id of the run."""
    workflow_id: str = ""
    is_of_activity: bool = False

    def with_context(self, context: SerializationContext) -> OffloadingCodec:
        """Return the codec for payloads of a workflow or of an activity."""
        codec: Any = self.codec
        if isinstance(codec, WithSerializationContext):
            codec = codec.with_context(context)
        return replace(
            self,
            codec=codec,
            workflow_id=getattr(context, "workflow_id", None) or "",
            is_of_activity=isinstance(context, ActivitySerializationContext),
        )

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Return payloads in the form that the server receives; references stay unchanged.

        Raises:
            StoreAwayError: the store cannot be used.
        """
        if all(map(is_reference, payloads)):
            return list(payloads)
        is_replayed = any(_REPLAYED in payload.metadata for payload in payloads)
        plain = [_without_mark(payload) for payload in payloads]
        encoded = plain if self.codec is None else await self.codec.encode(plain)
        if is_replayed:
            return list(encoded)
        return [await self._put(part) if part.ByteSize() > self.larger_than else part for part in encoded]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Return payloads as they were before `encode`.

        In an activity, a missing payload becomes a payload with the encoding `GONE`, and the converter raises
        it. If decoding an argument failed here, the SDK would retry the activity.

        Raises:
            PayloadGoneError: a payload was erased or pruned, in a workflow or a client.
            StoreAwayError: the store cannot be used.
        """
        encoded = [await self._get(payload) if is_reference(payload) else payload for payload in payloads]
        if gone := [payload for payload in encoded if _encoding_of(payload) == GONE]:
            return gone
        return encoded if self.codec is None else await self.codec.decode(encoded)

    async def _put(self, payload: Payload) -> Payload:
        try:
            ref = await self.store.put(payload.SerializeToString(), owner=self.workflow_id)
        except Exception as error:
            raise _unusable(error) from error
        return Payload(metadata={"encoding": _REFERENCE.encode()}, data=ref.encode())

    async def _get(self, payload: Payload) -> Payload:
        try:
            return Payload.FromString(await self.store.get(payload.data.decode()))
        except PayloadGoneError as error:
            gone = PayloadGoneError(
                f"run {self.workflow_id.removeprefix(self.prefix)} lacks a large value: {error.message}",
                hint=_GONE_HINT,
            )
            if self.is_of_activity:
                return Payload(metadata={"encoding": GONE.encode()}, data=gone.message.encode())
            raise gone from error
        except Exception as error:
            raise _unusable(error) from error


def is_reference(payload: Payload) -> bool:
    """Return whether a payload is a reference to a payload in the store."""
    return _encoding_of(payload) == _REFERENCE


def _encoding_of(payload: Payload) -> str:
    """Return the encoding of a payload; "" if it has none."""
    return payload.metadata.get("encoding", b"").decode(errors="replace")


def _without_mark(payload: Payload) -> Payload:
    """Return a payload without the replay mark."""
    if _REPLAYED not in payload.metadata:
        return payload
    plain = Payload()
    plain.CopyFrom(payload)
    del plain.metadata[_REPLAYED]
    return plain


def _unusable(error: Exception) -> StoreAwayError:
    return StoreAwayError(
        f"{UNUSABLE}: {error}", hint="check that its database is running and reachable from this process"
    )
