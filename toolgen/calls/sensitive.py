"""Sensitive values that codecs read and write, so that texts of the running call can be redacted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from toolgen.contract.json_pointer import pointer_of
from toolgen.contract.limits import UNLIMITED
from toolgen.contract.secrets import Secrets, noting
from toolgen.shapes.issues import LONGEST_KEY, MOST_WARNINGS

from .errors import ToolValidationError
from .watching import add_values

if TYPE_CHECKING:
    from toolgen.shapes.issues import FieldIssue

    from .codec import Codec
    from .specs import ToolSpec


def note_document(codec: Codec, document: bytes | str, secrets: Secrets | None = None) -> None:
    """Add the sensitive values of a JSON document, even if it is incomplete; none if it is not JSON.

    They are added to `secrets`, by default to the secrets of the running call.
    """
    if codec.sensitive and (secrets := secrets or noting()) is not None:
        add_values(document, codec.sensitive, codec.keys, secrets)


def note_typed(codec: Codec | None, document: bytes | str | Mapping[str, object]) -> None:
    """Add a document's sensitive values to the secrets of the running call, also in Python notation."""
    if codec is not None and codec.sensitive:
        with suppress(ToolValidationError):
            codec.decode_null_as_absent(document, UNLIMITED)


def unvalidated_places(codec: Codec, warnings: Sequence[FieldIssue]) -> tuple[str, ...]:
    """Return the sensitive paths of a result with warnings, including each part that does not fit.

    Empty if the codec has no sensitive value. The whole document if there may be more warnings than these.
    """
    if not codec.sensitive or not warnings:
        return codec.sensitive
    keys = [key for warning in warnings for key in warning.keys if isinstance(key, str)]
    if len(warnings) == MOST_WARNINGS or max(map(len, keys), default=0) >= LONGEST_KEY:  # one may be cut
        return ("",)
    # The value of a missing attribute may be under any key of its object.
    parts = [each.keys[: -1 if each.constraint == "missing_field" else None] for each in warnings]
    return (*codec.sensitive, *map(pointer_of, parts))


def is_for_model(spec: ToolSpec, kind: str) -> bool:
    """Return whether a model can load an artifact of this kind: never one with sensitive values."""
    artifact = spec.artifacts.get(kind)
    return artifact is not None and artifact.audience == "model" and not artifact.codec.sensitive
