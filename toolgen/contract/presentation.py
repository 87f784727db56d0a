"""Icons and deprecations of tools, which a design sets and the runtime passes on."""

from __future__ import annotations

from dataclasses import dataclass

from .names import IconTheme


@dataclass(frozen=True, slots=True, kw_only=True)
class Deprecation:
    """The tool should not be used any more; it still works."""

    reason: str
    replacement: str = ""
    """Id of the tool to use instead; "" for none."""

    def added_to(self, description: str, replacement: str) -> str:
        """Return a description that ends with one sentence on this, for who chooses among tools.

        `replacement` is what he calls the tool to use instead; "" for none, where the reason is told.
        """
        notice = f"Deprecated: use {replacement}" if replacement else f"Deprecated: {self.reason}"
        return " ".join(_sentence(text) for text in (description.rstrip(), notice) if text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Icon:
    """A picture of the tool (MCP 2025-11-25, `Icon`)."""

    src: str
    """A URL of http or https, or a data URI."""
    mime_type: str = ""
    """Where `src` does not say it; "" for nothing."""
    sizes: tuple[str, ...] = ()
    """Each `any`, or width and height in pixels: `48x48`."""
    theme: IconTheme | None = None
    """The background that it is made for; None for any."""


def _sentence(text: str) -> str:
    return text if text[-1:] in (".", "!", "?", "…") else f"{text}."
