"""Codecs that hide what they send."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

from temporalio.api.common.v1 import Payload
from temporalio.converter import PayloadCodec, SerializationContext, WithSerializationContext


class XorCodec(PayloadCodec):
    """Changes every byte by a key, metadata included: as an encryption for tests it leaves no plain text."""

    def __init__(self, key: str) -> None:
        self._key = key.encode()

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [
            Payload(metadata={"encoding": b"binary/hidden"}, data=self._changed(payload.SerializeToString()))
            for payload in payloads
        ]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [Payload.FromString(self._changed(payload.data)) for payload in payloads]

    def _changed(self, data: bytes) -> bytes:
        return bytes(one ^ other for one, other in zip(data, cycle(self._key), strict=False))


class ContextCodec(XorCodec, WithSerializationContext):
    """Changes every byte by all that the SDK says of what a payload belongs to."""

    def __init__(self, context: SerializationContext | None = None) -> None:
        super().__init__(repr(context))

    def with_context(self, context: SerializationContext) -> ContextCodec:
        return ContextCodec(context)
