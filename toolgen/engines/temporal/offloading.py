"""Large values beside the server: a codec that stores them and leaves references in histories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    ActivitySerializationContext,
    PayloadCodec,
    SerializationContext,
    WithSerializationContext,
)

from toolgen.runtime.engine import EngineError, PayloadGoneError, PayloadStore

REFERENCE: Final = "toolgen/reference"
"""Encoding of a payload whose data is the reference of another one."""
GONE: Final = "toolgen/gone"
"""Encoding of a payload whose data says why there is no other one; it is never sent."""
GONE_HINT: Final = (
    "cancel the run if it is not over, and erase its session; "
    "prune payloads only after the server has forgotten their runs"
)
REPLAYED: Final = "toolgen-replayed"
"""In the metadata of a payload that a replay makes again; the history has it already."""
UNUSABLE: Final = "the store of large values cannot be used"
"""In the message of a workflow task that failed for it; the server has the task done again."""


class OffloadingCodec(PayloadCodec, WithSerializationContext):
    """Puts encoded payloads that are large into a store, each for its workflow.

    The codec of the host comes first, so that the store holds what it has encrypted.
    """

    def __init__(
        self,
        store: PayloadStore,
        codec: PayloadCodec | None,
        *,
        larger_than: int,
        prefix: str,
        context: SerializationContext | None = None,
    ) -> None:
        """Construct a codec.

        Args:
            store: Keeps the payloads.
            codec: Of the host, around every payload.
            larger_than: Bytes of an encoded payload; what has more goes to the store.
            prefix: Before the id of a run in the id of its workflow.
            context: What the payloads belong to.
        """
        self._store = store
        self._codec = codec
        self._larger_than = larger_than
        self._prefix = prefix
        self._workflow_id: str = getattr(context, "workflow_id", None) or ""
        self._is_of_activity = isinstance(context, ActivitySerializationContext)

    def with_context(self, context: SerializationContext) -> OffloadingCodec:
        """Return the codec for payloads of a workflow or of an activity."""
        codec: Any = self._codec
        if isinstance(codec, WithSerializationContext):
            codec = codec.with_context(context)
        return OffloadingCodec(
            self._store, codec, larger_than=self._larger_than, prefix=self._prefix, context=context
        )

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Return payloads as the server gets them.

        Raises:
            EngineError: the store cannot be used.
        """
        is_replayed = any(REPLAYED in one.metadata for one in payloads)
        plain = [_without_mark(one) for one in payloads]
        encoded = plain if self._codec is None else await self._codec.encode(plain)
        if is_replayed:
            return list(encoded)
        return [await self._put(one) if one.ByteSize() > self._larger_than else one for one in encoded]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Return payloads as they were before `encode`.

        Of an activity a payload that is gone is one of the encoding `GONE`, which its converter raises: an
        argument that cannot be decoded has the SDK try the activity again.

        Raises:
            PayloadGoneError: one was erased or pruned, in a workflow or a client.
            EngineError: the store cannot be used.
        """
        encoded = [await self._get(one) if _encoding(one) == REFERENCE else one for one in payloads]
        if gone := [one for one in encoded if _encoding(one) == GONE]:
            return gone
        return encoded if self._codec is None else await self._codec.decode(encoded)

    async def _put(self, payload: Payload) -> Payload:
        try:
            ref = await self._store.put(payload.SerializeToString(), owner=self._workflow_id)
        except Exception as error:
            raise _unusable(error) from error
        return Payload(metadata={"encoding": REFERENCE.encode()}, data=ref.encode())

    async def _get(self, payload: Payload) -> Payload:
        try:
            return Payload.FromString(await self._store.get(payload.data.decode()))
        except PayloadGoneError as error:
            gone = PayloadGoneError(
                f"run {self._workflow_id.removeprefix(self._prefix)} lacks a large value: {error.message}",
                hint=GONE_HINT,
            )
            if self._is_of_activity:
                return Payload(metadata={"encoding": GONE.encode()}, data=gone.message.encode())
            raise gone from error
        except Exception as error:
            raise _unusable(error) from error


def offloading(
    codec: PayloadCodec | None, store: PayloadStore | None, *, larger_than: int, prefix: str
) -> PayloadCodec | None:
    """Return a codec that puts large payloads into the store; where there is none, the codec of the host."""
    if store is None:
        return codec
    return OffloadingCodec(store, codec, larger_than=larger_than, prefix=prefix)


def _encoding(payload: Payload) -> str:
    return payload.metadata.get("encoding", b"").decode()


def _without_mark(payload: Payload) -> Payload:
    """Return a payload without the mark of a replay."""
    if REPLAYED not in payload.metadata:
        return payload
    plain = Payload()
    plain.CopyFrom(payload)
    del plain.metadata[REPLAYED]
    return plain


def _unusable(error: Exception) -> EngineError:
    return EngineError(f"{UNUSABLE}: {error}", hint="see that its database is up, and reachable from here")
