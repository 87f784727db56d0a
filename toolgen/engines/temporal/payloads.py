"""What crosses to the server: JSON and nothing else, with the codec of the host around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, Final

from temporalio import activity, workflow
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue
from temporalio.converter import (
    DataConverter,
    DefaultFailureConverter,
    DefaultFailureConverterWithEncodedAttributes,
    PayloadCodec,
    PayloadConverter,
)
from temporalio.exceptions import ApplicationError

from toolgen.runs import EngineError, PayloadGoneError

from ..journal import decode, encode
from .offloading import GONE, GONE_HINT, REFERENCE, REPLAYED, encoding_of

ENCODING: Final = "json/plain"


class NotJsonError(EngineError):
    """A payload is not JSON."""


class JsonPayloads(PayloadConverter):
    """Writes values as JSON, and gives them back as they were decoded, whatever type is asked for."""

    def to_payloads(self, values: Sequence[Any]) -> list[Payload]:
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
            EngineError: one is a reference that no codec has followed.
        """
        return [
            RawValue(payload) if hint is RawValue else _value(payload)
            for payload, hint in zip_longest(payloads, type_hints or ())
        ]


def _payload(value: Any) -> Payload:
    text, _ = encode(value, "a value for the server")
    metadata = {"encoding": ENCODING.encode()}
    if workflow.in_workflow() and workflow.unsafe.is_replaying():
        metadata[REPLAYED] = b""
    return Payload(metadata=metadata, data=text)


def _value(payload: Payload) -> Any:
    encoding = encoding_of(payload)
    if encoding == GONE:
        message = payload.data.decode()
        if activity.in_activity():
            raise ApplicationError(message, type=PayloadGoneError.__name__, non_retryable=True)
        raise PayloadGoneError(message, hint=GONE_HINT)
    if encoding == REFERENCE:
        raise EngineError(
            "a large value of the run is in a store that this process lacks",
            hint="give all processes the same: TemporalEngine(payloads=…)",
        )
    if encoding != ENCODING:
        raise NotJsonError(f"a payload has the encoding {encoding!r}, which is not {ENCODING}")
    try:
        return decode(payload.data)
    except ValueError as error:
        raise NotJsonError(f"a payload is not JSON: {error}") from error


def data_converter(codec: PayloadCodec | None) -> DataConverter:
    """Return the converter of all clients and workers of an engine; a codec is around failures, too."""
    return replace(
        DataConverter.default,
        payload_converter_class=JsonPayloads,
        payload_codec=codec,
        failure_converter_class=(
            DefaultFailureConverter if codec is None else DefaultFailureConverterWithEncodedAttributes
        ),
    )
