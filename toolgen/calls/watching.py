"""Codec functions that record the sensitive values that they read and write for the running call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic_core import from_json

from toolgen.contract.secrets import Secrets, noting
from toolgen.shapes.sensitive import values_at


def watched(
    places: tuple[str, ...],
    keys: Callable[[], frozenset[str]],
    validate: Callable[..., Any],
    dump: Callable[[Any], bytes],
    dump_python: Callable[..., Any],
) -> tuple[Callable[..., Any], Callable[[Any], bytes]]:
    """Return functions that decode and encode documents and record their sensitive values.

    `dump_python` is pydantic's `to_python` for the type, which keeps dates and similar values unchanged.
    """

    def decode(data: bytes | str, **options: Any) -> Any:
        note(data)
        value = validate(data, **options)
        note_value(value)
        return value

    def encode(value: Any) -> bytes:
        note_value(value)
        document = dump(value)
        note(document)
        return document

    def note(document: bytes | str) -> None:
        if (secrets := noting()) is not None:
            add_values(document, places, keys(), secrets)

    def note_value(value: object) -> None:
        """Add the sensitive values of a typed value, in Python notation."""
        if (secrets := noting()) is None:
            return
        try:
            dumped = dump_python(value, by_alias=True, warnings=False)
        except Exception:  # noqa: BLE001 - author code may have put anything in; the document is recorded
            return
        secrets.add(values_at(dumped, places), keys())

    return decode, encode


def add_values(
    document: bytes | str, places: tuple[str, ...], keys: frozenset[str], secrets: Secrets
) -> None:
    """Add the sensitive values of a JSON document, even if it is incomplete; none if it is not JSON."""
    try:
        value = from_json(document, allow_partial="trailing-strings")
    except (ValueError, TypeError):
        return
    secrets.add(values_at(value, places), keys)
