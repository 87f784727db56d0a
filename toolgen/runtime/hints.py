"""Texts for people, with the fields of a payload or of a result in braces."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

_PART: Final = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
_LONGEST: Final = 200
"""Characters of one value that a person is shown."""


def filled(template: str, values: Mapping[str, Any]) -> str:
    """Return the template with the values in place; a doubled brace is one, an absent value nothing."""

    def part(found: re.Match[str]) -> str:
        return found[0][0] if found[1] is None else _text(values.get(found[1]))

    return _PART.sub(part, template)


def _text(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
