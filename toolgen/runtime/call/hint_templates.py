"""Templates of texts for people, with fields of a payload or of a result in braces."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

_PART: Final = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
_LONGEST: Final = 200
"""Characters of one value that a person is shown."""


def render_template(template: str, values: Mapping[str, Any], *, longest: int | None = _LONGEST) -> str:
    """Render a hint template with its values; `{{` is a brace, an absent value is empty.

    Of each value `longest` characters are shown, and how many more there are; None for all.
    """

    def part(found: re.Match[str]) -> str:
        return found[0][0] if found[1] is None else _text(values.get(found[1]), longest)

    return _PART.sub(part, template)


def is_shortened_by(template: str, values: Mapping[str, Any]) -> bool:
    """Return whether rendering the template shortens a value."""
    names = [found[1] for found in _PART.finditer(template) if found[1] is not None]
    return any(len(_whole(values.get(name))) > _LONGEST for name in names)


def _text(value: Any, longest: int | None) -> str:
    text = _whole(value)
    if longest is None or len(text) <= longest:
        return text
    return f"{text[:longest]}… [{len(text) - longest:,} more characters]"


def _whole(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
