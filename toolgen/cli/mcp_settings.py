"""`[tool.toolgen.mcp]`: the MCP servers that execute locked toolsets, by the names of the toolsets."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from toolgen.contract.errors import ToolgenError
from toolgen.contract.record import frozen_record

if TYPE_CHECKING:
    from toolgen.adapters.mcp import HttpServer, StdioServer

_EXAMPLE: Final = 'command = ["python", "-m", "mcp_server_git"], or url = "https://example.com/mcp"'
_KEYS: Final = ("command", "environment", "url", "headers", "allow_insecure")
_VARIABLE: Final = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})", re.ASCII)
_SECRET: Final = re.compile(r"token|secret|passw|api.?key|bearer|credential|authorization", re.IGNORECASE)
"""Words in a command that might contain a secret."""


class SettingsError(ValueError):
    """The table cannot be read; the text contains the reason."""


@frozen_record
class ServerSettings:
    """The connection to one server: a command that starts it, or a URL. It contains no secrets."""

    command: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    """Names of environment variables that its process gets in addition to the harmless ones."""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers of each request; `$NAME` refers to an environment variable."""
    allow_insecure: bool = False
    """Whether headers can be sent to another machine over plain HTTP."""

    def server(self, folder: Path | None = None) -> HttpServer | StdioServer:
        """Return the server, whose process starts in the folder; it is not connected yet.

        Raises:
            ToolgenError: the extra `mcp` is missing, an environment variable is unset, or it is not a server.
        """
        from toolgen.adapters.mcp import HttpServer, StdioServer

        if self.url:
            headers = {name: _filled(value, name) for name, value in self.headers.items()}
            return HttpServer(self.url, headers=headers, allow_insecure=self.allow_insecure)
        environment = {name: _variable(name, "its process") for name in self.environment}
        return StdioServer(self.command[0], self.command[1:], env=environment, cwd=folder)

    def may_have_secrets(self) -> bool:
        """Return whether the command or the URL might contain a secret."""
        url = urlsplit(self.url)
        return bool(url.query or url.username or url.password or _SECRET.search(" ".join(self.command)))

    def text(self, name: str) -> str:
        """Return the table as TOML."""
        values: dict[str, Any] = {key: getattr(self, key) for key in _KEYS}
        lines = [f"{key} = {_toml(value)}" for key, value in values.items() if value]
        return "\n".join([f"[tool.toolgen.mcp.{name}]", *lines]) + "\n"


def read_servers(table: object) -> Mapping[str, ServerSettings]:
    """Return the servers by the names of toolsets.

    Raises:
        SettingsError: it is not a table of servers.
    """
    if not isinstance(table, dict):
        raise SettingsError(f"is not a table of servers; write [tool.toolgen.mcp.NAME] with {_EXAMPLE}")
    return {name: _read(name, value) for name, value in table.items()}


def _read(name: str, value: object) -> ServerSettings:
    if not isinstance(value, dict) or bool(value.get("command")) == bool(value.get("url")):
        raise SettingsError(f"{name!r} needs either a command or a url; write {_EXAMPLE}")
    for key in value:
        if key not in _KEYS:
            raise SettingsError(f"{name!r} has no key {key!r}; the keys are {', '.join(_KEYS)}")
    command, names = value.get("command", []), value.get("environment", [])
    for key, texts in (("command", command), ("environment", names)):
        if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
            raise SettingsError(f'{key!r} of {name!r} is not a list of strings; write {key} = ["…"]')
    url, headers, is_insecure = (
        value.get("url", ""),
        value.get("headers", {}),
        value.get("allow_insecure", False),
    )
    if not isinstance(url, str) or not isinstance(is_insecure, bool):
        raise SettingsError(f"'url' of {name!r} must be a string, and 'allow_insecure' true or false")
    if not isinstance(headers, dict) or not all(
        isinstance(text, str) and _VARIABLE.search(text) for text in headers.values()
    ):
        raise SettingsError(
            f"a header of {name!r} does not take its value from an environment variable; "
            'write headers = { Authorization = "Bearer $TOKEN" }'
        )
    return ServerSettings(
        command=tuple(command),
        environment=tuple(names),
        url=url,
        headers=headers,
        allow_insecure=is_insecure,
    )


def header_of(text: str) -> tuple[str, str]:
    """Return the name and the value of `--header`; `$NAME` refers to an environment variable.

    Secrets are not allowed, because command lines are visible in process lists and shell histories.

    Raises:
        ToolgenError: it is not a header, or refers to no variable.
    """
    name, colon, value = text.partition(":")
    if not colon or not _VARIABLE.search(value):
        raise ToolgenError(
            f"--header {name.strip()!r} does not take its value from an environment variable",
            hint="write it in single quotes: --header 'Authorization: Bearer $TOKEN'",
        )
    return name.strip(), value.strip()


def recorded(file: Path, name: str, settings: ServerSettings) -> bool:
    """Append the table of a server to a pyproject.toml with `[tool.toolgen]`; return whether it is there.

    An existing table of this name is not changed, nor is a file whose meaning would change.
    """
    from toolgen.codegen.write import Edit  # imported late, because it imports the generator
    from toolgen.codegen.write.output import replace_files

    from .project_place import settings_of, with_settings

    try:
        if name not in (settings_of(file.parent) or {}).get("mcp", {}):
            before = file.read_bytes()
            text = with_settings(before.decode(), settings.text(name))
            replace_files({file: Edit(old=before, new=text.encode())})
    except (OSError, ValueError, TypeError, ToolgenError):
        return False
    return True


def _filled(text: str, header: str) -> str:
    return _VARIABLE.sub(lambda match: _variable(match[1] or match[2], f"the header {header!r}"), text)


def _variable(name: str, what: str) -> str:
    if not os.environ.get(name):
        raise ToolgenError(f"the environment variable {name} of {what} is not set", hint=f"export {name}=…")
    return os.environ[name]


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_toml(key)} = {_toml(held)}' for key, held in value.items())} }}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)
