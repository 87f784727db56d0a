"""What is said about a tool beside its arguments and its result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from toolgen.contract.json_value import Json

from .clause import Clause
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

    def __init__(self, kind: str, type: Type | Object | str, description: str) -> None:
        super().__init__()
        self.kind = kind
        self.type = type
        self.description = description


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
