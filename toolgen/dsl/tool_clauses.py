"""Further facts of a tool, beside its arguments and its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from toolgen.contract.json_value import Json
from toolgen.contract.names import ArtifactView, IconTheme

from .clause import Clause, Sentence
from .composites import Object, Type


class BindTo(Clause):
    """The method that implements the tool; without a service, one of the toolset's own service.

    Example: `BindTo("DeviceService", "list_devices", rename={"site": "site_id"})`
    """

    service: Final[str | None]
    method: Final[str]
    rename: Final[Mapping[str, str]]
    """Field of the method's payload or result → the tool's attribute of another name."""

    def __init__(
        self, service: str, method: str | None = None, /, *, rename: Mapping[str, str] | None = None
    ) -> None:
        super().__init__()
        self.service = None if method is None else service
        self.method = service if method is None else method
        self.rename = {} if rename is None else rename


class Inject(Clause):
    """Fields that the server fills and the model never sees.

    Example: `Inject("session_id")`
    """

    names: Final[tuple[str, ...]]

    def __init__(self, *names: str) -> None:
        super().__init__()
        self.names = names


class BoundedResult(Clause):
    """The result is a window on more data; cursors are optional strings of Args and Return.

    Example: `BoundedResult(cursor="cursor", next_cursor="next_cursor")`
    """

    cursor: Final[str | None]
    next_cursor: Final[str | None]

    def __init__(self, cursor: str | None = None, next_cursor: str | None = None) -> None:
        super().__init__()
        self.cursor = cursor
        self.next_cursor = next_cursor


class Artifact(Clause):
    """Full data for UIs and audits, never sent to the model.

    Example: `Artifact("device", Device, "Everything about the device, for a card.")`
    """

    kind: Final[str]
    type: Final[Type | Object | str]
    description: Final[str]
    view: Final[ArtifactView | None]
    """How a user interface shows it."""

    def __init__(
        self,
        kind: str,
        type: Type | Object | str,
        description: str,
        *,
        view: ArtifactView | None = None,
    ) -> None:
        super().__init__()
        self.view = view
        self.kind = kind
        self.type = type
        self.description = description


class Error(Clause):
    """A declared failure, which models, planners and clients get by name, with details of this type.

    Example: `Error("not_found", Device, "No device has the id.")`
    """

    name: Final[str]
    type: Final[Type | Object | str | None]
    """Of the details; None for an error that has none."""
    description: Final[str]
    retryable: Final[bool]
    """The same call may work a moment later."""

    def __init__(
        self,
        name: str,
        type: Type | Object | str | None = None,
        description: str = "",
        *,
        retryable: bool = False,
    ) -> None:
        super().__init__()
        self.name = name
        self.type = type
        self.description = description
        self.retryable = retryable


class Tags(Clause):
    """Labels for filters.

    Example: `Tags("devices", "read")`
    """

    names: Final[tuple[str, ...]]

    def __init__(self, *names: str) -> None:
        super().__init__()
        self.names = names


class Meta(Clause):
    """Facts for UIs, any JSON.

    Example: `Meta(icon="lamp", order=3)`
    """

    facts: Final[dict[str, Json]]

    def __init__(self, **facts: Json) -> None:
        super().__init__()
        self.facts = facts


class Deprecated(Clause):
    """The tool still works, and should not be used any more; another tool of the design may replace it.

    Example: `Deprecated("Finds devices of one site alone.", replacement="find_devices")`
    """

    reason: Final[Sentence]
    replacement: Final[str | None]
    """Name of a tool of the same toolset, or `service.toolset.tool`."""

    def __init__(self, reason: str, *, replacement: str | None = None) -> None:
        super().__init__()
        self.reason = reason
        self.replacement = replacement


class Icon(Clause):
    """A picture of the tool, for user interfaces: an address of http or https, or a data URI.

    Example: `Icon("https://example.org/lamp.svg", mime_type="image/svg+xml", sizes=("any",))`
    """

    src: Final[str]
    mime_type: Final[str | None]
    sizes: Final[Sequence[str]]
    theme: Final[IconTheme | None]

    def __init__(
        self,
        src: str,
        *,
        mime_type: str | None = None,
        sizes: Sequence[str] = (),
        theme: IconTheme | None = None,
    ) -> None:
        super().__init__()
        self.src = src
        self.mime_type = mime_type
        self.sizes = sizes
        self.theme = theme


class Annotations(Clause):
    """How the tool behaves; a hint that is left out means the careful default.

    Example: `Annotations(destructive=True, idempotent=True)`
    """

    hints: Final[dict[str, bool]]

    def __init__(
        self,
        *,
        read_only: bool | None = None,
        destructive: bool | None = None,
        idempotent: bool | None = None,
        open_world: bool | None = None,
        edit: bool | None = None,
    ) -> None:
        super().__init__()
        hints = {
            "read_only": read_only,
            "destructive": destructive,
            "idempotent": idempotent,
            "open_world": open_world,
            "edit": edit,
        }
        self.hints = {name: hint for name, hint in hints.items() if hint is not None}
