"""Names of models, and of the planner that uses no model."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from toolgen.calls.errors import RegistrationError

DEMO: Final = "demo"
"""Name of the planner that uses no model."""


_AT_URL: Final = re.compile(r"(?P<model>\S+?)@(?P<url>https?://\S+)")
_AT_PROVIDER: Final = re.compile(r"(?P<provider>[^\s:@]+):(?P<model>\S+)")
_WIRES: Final = ("openai", "openai-chat", "openai-responses", "anthropic", "google")
"""Providers whose wire formats are implemented by third-party servers."""


class ModelName(NamedTuple):
    """A model of a provider, or a model at the URL of a server: `llama3.2@http://localhost:11434/v1`."""

    provider: str
    """API of the model; for a URL, OpenAI's chat completions by default."""
    model: str
    url: str
    """"" for the provider's own URL."""

    @staticmethod
    def parse(name: str) -> ModelName:
        """Return the parts of a name.

        Raises:
            RegistrationError: it is not the name of a model.
        """
        if at_url := _AT_URL.fullmatch(name):
            wire, colon, model = at_url["model"].partition(":")
            if not (colon and wire in _WIRES and model):
                wire, model = "openai-chat", at_url["model"]
            return ModelName(wire, model, at_url["url"])
        if match := _AT_PROVIDER.fullmatch(name):
            return ModelName(match["provider"], match["model"], "")
        raise RegistrationError(
            f"{name!r} is not a model",
            hint=f'write "openai:gpt-5", "NAME@http://localhost:11434/v1" for a server, or "{DEMO}"',
        )
