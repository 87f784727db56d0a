"""An estimate of the number of tokens in a text."""

from __future__ import annotations

from typing import Any, Final

from .json_value import compact

BYTES_OF_TOKEN: Final = 4
"""Bytes of UTF-8 that count as one token.

For 97 of 100 of 2,584 declarations of public tools, this gives more tokens than OpenAI's o200k_base, at the
median 1.18 times as many, so a budget is not exceeded unnoticed.
"""


def estimated_tokens(text: str) -> int:
    """Return the estimated number of tokens of a text, because tokenizers of models differ."""
    return -(-len(text.encode(errors="replace")) // BYTES_OF_TOKEN)


def declaration_text(name: str, description: str, schema: Any) -> str:
    """Return the compact JSON that declares a tool in a request; providers differ in the keys."""
    return compact({"name": name, "description": description, "parameters": schema})
