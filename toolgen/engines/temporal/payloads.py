"""What crosses to the server: JSON and nothing else, with the codec of the host around it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    CompositePayloadConverter,
    DataConverter,
    DefaultFailureConverter,
    DefaultFailureConverterWithEncodedAttributes,
    EncodingPayloadConverter,
    PayloadCodec,
)

from ..payloads import decode, encode

ENCODING: Final = "json/plain"


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
        return Payload(metadata={"encoding": ENCODING.encode()}, data=text)

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> Any:
        return decode(payload.data)


class _JsonOnly(CompositePayloadConverter):
    def __init__(self) -> None:
        super().__init__(JsonPayloads())


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
