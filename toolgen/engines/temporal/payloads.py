"""What crosses to the server: JSON and nothing else, with the codec of the host around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from temporalio import activity, workflow
from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    CompositePayloadConverter,
    DataConverter,
    DefaultFailureConverter,
    DefaultFailureConverterWithEncodedAttributes,
    EncodingPayloadConverter,
    PayloadCodec,
)
from temporalio.exceptions import ApplicationError

from toolgen.runtime.engine import EngineError, PayloadGoneError

from ..journal import decode, encode
from .offloading import GONE, GONE_HINT, REFERENCE, REPLAYED

ENCODING: Final = "json/plain"
_KNOWN: Final = (ENCODING, GONE, REFERENCE)


class NotJsonError(EngineError):
    """A payload is not JSON."""


class JsonPayloads(EncodingPayloadConverter):
    """Writes values as JSON, and gives them back as they were decoded, whatever type is asked for."""

    @property
    def encoding(self) -> str:
        return ENCODING

    def to_payload(self, value: Any) -> Payload:
        """Return the payload of a value.

        Raises:
            EngineError: it is not JSON.
        """
        text, _ = encode(value, "a value for the server")
        metadata = {"encoding": ENCODING.encode()}
        if workflow.in_workflow() and workflow.unsafe.is_replaying():
            metadata[REPLAYED] = b""
        return Payload(metadata=metadata, data=text)

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> Any:
        try:
            return decode(payload.data)
        except ValueError as error:
            raise NotJsonError(f"a payload is not JSON: {error}") from error


class _Gone(EncodingPayloadConverter):
    """Raises what a payload says that stands for one which is gone."""

    @property
    def encoding(self) -> str:
        return GONE

    def to_payload(self, value: Any) -> None:
        return None

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> Any:
        message = payload.data.decode()
        if activity.in_activity():
            raise ApplicationError(message, type=PayloadGoneError.__name__, non_retryable=True)
        raise PayloadGoneError(message, hint=GONE_HINT)


class _Elsewhere(EncodingPayloadConverter):
    """Raises for a reference that no codec has followed."""

    @property
    def encoding(self) -> str:
        return REFERENCE

    def to_payload(self, value: Any) -> None:
        return None

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> Any:
        raise EngineError(
            "a large value of the run is in a store that this process lacks",
            hint="give all processes the same: TemporalEngine(payloads=…)",
        )


class _JsonOnly(CompositePayloadConverter):
    def __init__(self) -> None:
        super().__init__(JsonPayloads(), _Gone(), _Elsewhere())

    def from_payloads(self, payloads: Sequence[Payload], type_hints: list[type] | None = None) -> list[Any]:
        """Return the values.

        Raises:
            NotJsonError: one of them is not JSON.
        """
        for payload in payloads:
            if (encoding := payload.metadata.get("encoding", b"").decode(errors="replace")) not in _KNOWN:
                raise NotJsonError(f"a payload has the encoding {encoding!r}, which is not {ENCODING}")
        return super().from_payloads(payloads, type_hints)


def data_converter(codec: PayloadCodec | None) -> DataConverter:
    """Return the converter of all clients and workers of an engine; a codec is around failures, too."""
    return replace(
        DataConverter.default,
        payload_converter_class=_JsonOnly,
        payload_codec=codec,
        failure_converter_class=(
            DefaultFailureConverter if codec is None else DefaultFailureConverterWithEncodedAttributes
        ),
    )
