"""The sensitive values that codecs read and write, for the search of texts while a call goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from pydantic_core import from_json

from toolgen.contract.json_pointer import pointer_of
from toolgen.contract.limits import UNLIMITED, Limits
from toolgen.contract.secrets import Secrets, noting
from toolgen.shapes.issues import LONGEST_KEY, MOST_WARNINGS
from toolgen.shapes.sensitive import values_at

from .errors import ToolValidationError

if TYPE_CHECKING:
    from toolgen.shapes.issues import FieldIssue


class MarkedCodec(Protocol):
    """What a `Codec` says of its documents."""

    @property
    def sensitive(self) -> tuple[str, ...]: ...
    @property
    def keys(self) -> frozenset[str]: ...
    def decode_lenient(self, data: bytes | str | Mapping[str, object], limits: Limits) -> Any: ...


def watched(
    codec: MarkedCodec,
    validate: Callable[..., Any],
    dump: Callable[[Any], bytes],
    dump_python: Callable[..., Any],
) -> tuple[Callable[..., Any], Callable[[Any], bytes]]:
    """Return the functions of a codec that add what is sensitive to the values of the running call.

    `dump_python` is pydantic's `to_python` for its type: it leaves dates and the like as they are.
    """

    def decode(data: bytes | str, **options: Any) -> Any:
        note_document(codec, data)
        value = validate(data, **options)
        _note_value(codec, value, dump_python)
        return value

    def encode(value: Any) -> bytes:
        _note_value(codec, value, dump_python)
        document = dump(value)
        note_document(codec, document)
        return document

    return decode, encode


def note_document(codec: MarkedCodec, document: bytes | str, secrets: Secrets | None = None) -> None:
    """Add the sensitive values of a JSON document, also of a broken one; none of what is not JSON.

    They are added to `secrets`, by default to those of the running call.
    """
    if not codec.sensitive or (secrets := secrets or noting()) is None:
        return
    try:
        value = from_json(document, allow_partial="trailing-strings")
    except (ValueError, TypeError):
        return
    secrets.add(values_at(value, codec.sensitive), codec.keys)


def note_typed(codec: MarkedCodec | None, document: bytes | str | Mapping[str, object]) -> None:
    """Add the sensitive values of a document to those of the running call, also as Python writes them."""
    if codec is not None and codec.sensitive:
        with suppress(ToolValidationError):
            codec.decode_lenient(document, UNLIMITED)


def unvalidated_places(codec: MarkedCodec, warnings: Sequence[FieldIssue]) -> tuple[str, ...]:
    """Return where a result with warnings is sensitive: each part that does not fit is so as a whole.

    Nothing is if the codec has no sensitive value. Everything is if there may be more warnings than these.
    """
    if not codec.sensitive or not warnings:
        return codec.sensitive
    keys = [key for warning in warnings for key in warning.keys if isinstance(key, str)]
    if len(warnings) == MOST_WARNINGS or max(map(len, keys), default=0) >= LONGEST_KEY:  # one may be cut
        return ("",)
    # An object that lacks an attribute may have its value under any key.
    parts = [each.keys[: -1 if each.constraint == "missing_field" else None] for each in warnings]
    return (*codec.sensitive, *map(pointer_of, parts))


def _note_value(codec: MarkedCodec, value: object, dump_python: Callable[..., Any]) -> None:
    """Add the sensitive values of a typed value, as Python writes them."""
    if (secrets := noting()) is None:
        return
    try:
        dumped = dump_python(value, by_alias=True, warnings=False)
    except Exception:  # noqa: BLE001 - author code may have put anything into it; its document is noted all the same
        return
    secrets.add(values_at(dumped, codec.sensitive), codec.keys)
