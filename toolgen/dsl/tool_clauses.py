"""Further facts of a tool, beside its arguments and its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Final

from toolgen.contract.json_value import Json
from toolgen.contract.names import ArtifactAudience, ArtifactView, IconTheme

from .clause import Clause, Names, Sentence
from .composites import Object, Type


class BindTo(Clause):
    """The method that implements the tool; without a service, one of the toolset's own service.

    Example: `d.BindTo("DeviceService", "list_devices", rename={"site": "site_id"})`
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


class Inject(Names):
    """Fields that the server fills and the model never sees.

    Example: `d.Inject("session_id")`
    """


@dataclass(frozen=True, eq=False, repr=False)
class BoundedResult(Clause):
    """The result is a window on more data; cursors are optional strings of Args and Return.

    Example: `d.BoundedResult(cursor="cursor", next_cursor="next_cursor")`
    """

    cursor: str | None = None
    next_cursor: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Artifact(Clause):
    """Full data for UIs and audits, sent to the model only if it loads what is for it.

    Example: `d.Artifact("device", Device, "Everything about the device, for a card.")`
    """

    kind: str
    type: Type | Object | str
    description: str
    _: KW_ONLY
    view: ArtifactView | None = None
    """How a user interface shows it."""
    audience: ArtifactAudience = "user"
    """`model` lets the model of an agent load it by `load_artifacts`, unless it has sensitive values."""


@dataclass(frozen=True, eq=False, repr=False)
class Error(Clause):
    """A declared failure, which models, planners and clients get by name, with details of this type.

    Example: `d.Error("not_found", Device, "No device has the id.")`
    """

    name: str
    type: Type | Object | str | None = None
    """The type of its details; None for an error that has none."""
    description: str = ""
    _: KW_ONLY
    retryable: bool = False
    """The same call may work a moment later."""


class Tags(Names):
    """Labels for filters.

    Example: `d.Tags("devices", "read")`
    """


@dataclass(frozen=True, eq=False, repr=False)
class Suppress(Clause):
    """A rule of `toolgen lint` that does not count here, and why: for a tool, or for all of a toolset.

    Example: `d.Suppress("many-arguments", "The form of the agency has as many.")`
    """

    rule: Sentence
    reason: Sentence


class Meta(Clause):
    """Facts for UIs, any JSON.

    Example: `d.Meta(icon="lamp", order=3)`
    """

    facts: Final[dict[str, Json]]

    def __init__(self, **facts: Json) -> None:
        super().__init__()
        self.facts = facts


@dataclass(frozen=True, eq=False, repr=False)
class Deprecated(Clause):
    """The tool still works, and should not be used any more. Another tool of the design may replace it.

    Example: `d.Deprecated("Finds devices of one site alone.", replacement="find_devices")`
    """

    reason: Sentence
    _: KW_ONLY
    replacement: str | None = None
    """Name of a tool of the same toolset, or `service.toolset.tool`."""


class Breaks(Clause):
    """The tool may break what it promised before, and why; with codes, in these ways alone.

    `toolgen breaking` lists such changes, and lets them through.

    Example: `d.Breaks("Nobody has sent it since March.", "argument-removed")`
    """

    reason: Final[Sentence]
    codes: Final[tuple[str, ...]]
    """Codes of changes, such as `argument-removed`; all of them where it names none."""

    def __init__(self, reason: Sentence, *codes: str) -> None:
        super().__init__()
        self.reason = reason
        self.codes = codes


@dataclass(frozen=True, eq=False, repr=False)
class Icon(Clause):
    """A picture of the tool, for user interfaces: an address of http or https, or a data URI.

    Example: `d.Icon("https://example.org/lamp.svg", mime_type="image/svg+xml", sizes=("any",))`
    """

    src: str
    _: KW_ONLY
    mime_type: str | None = None
    sizes: Sequence[str] = ()
    theme: IconTheme | None = None


class Annotations(Clause):
    """How the tool behaves; a hint that is left out means the careful default.

    Example: `d.Annotations(destructive=True, idempotent=True)`
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
