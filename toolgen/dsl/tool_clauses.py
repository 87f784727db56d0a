"""Further facts of a tool, in addition to its arguments and its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Final

from toolgen.contract.json_value import Json
from toolgen.contract.names import ArtifactAudience, ArtifactView, IconTheme

from .clause import Clause, Names, Sentence
from .composites import Object, Type


class BindTo(Clause):
    """Implement the tool with a method of a service.

    The generated executor calls the method and converts arguments and result, so there is no stub to fill in.
    Arguments and fields match by name.

    Args:
        service: Name of the service. With one argument, it is the method, of the service that owns the
            toolset.
        method: Name of the method.
        rename: Fields of the method's payload or result that have another name in the tool: `{field:
            attribute}`.

    Example: `d.BindTo("DeviceService", "list_devices", rename={"site": "site_id"})`
    """

    service: Final[str | None]
    method: Final[str]
    rename: Final[Mapping[str, str]]

    def __init__(
        self, service: str, method: str | None = None, /, *, rename: Mapping[str, str] | None = None
    ) -> None:
        super().__init__()
        self.service = None if method is None else service
        self.method = service if method is None else method
        self.rename = {} if rename is None else rename


class Inject(Names):
    """Fill fields on the server, hidden from the model.

    The schema for the model does not contain the fields; the executor receives them. The runtime fills
    `run_id`, `session_id`, `turn_id`, `tool_call_id` and `parent_tool_call_id`, all of them strings. An
    interceptor of the host fills other names. `Args` can declare a field, as required, or only the payload of
    the bound method.

    Args:
        *names: Names of the fields.

    Example: `d.Inject("session_id")`
    """


@dataclass(frozen=True, eq=False, repr=False)
class BoundedResult(Clause):
    """Return a limited part of a larger result.

    Adds `returned`, `truncated`, `total` and `refinement_hint` to the result unless `Return` declares them.

    Args:
        cursor: Optional `String` of the arguments that requests the next part.
        next_cursor: Optional `String` of the result with that cursor; absent in the last part.

    Example: `d.BoundedResult(cursor="cursor", next_cursor="next_cursor")`
    """

    cursor: str | None = None
    next_cursor: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Artifact(Clause):
    """Data beside the result, for user interfaces and audits.

    The executor returns it with the result, and toolgen validates and stores it. In a bound tool, the field
    of the method's result with this name fills it.

    Args:
        kind: Name, written `like_this`.
        type: Object with the data; a string is the name of a type.
        description: One sentence.
        view: How user interfaces show it.
        audience: `model` allows the model of an agent to load it with `load_artifacts`, unless its type has
            sensitive attributes. See docs/agents.md#files-and-artifacts-for-the-model.

    Example: `d.Artifact("device", Device, "Everything about the device, for a card.")`
    """

    kind: str
    type: Type | Object | str
    description: str
    _: KW_ONLY
    view: ArtifactView | None = None
    audience: ArtifactAudience = "user"


@dataclass(frozen=True, eq=False, repr=False)
class Error(Clause):
    """Declare an error that callers can recognize.

    Generates a constant with the names of the tool and the error. The executor raises
    `GET_DEVICE_NOT_FOUND.of("no device d7", Device(...))`; planners and clients read the details with
    `GET_DEVICE_NOT_FOUND.get(result)`. The model receives the message, the code and the details, and the
    catalog lists the errors with their schemas. Errors of a service apply to all of its methods, and bound
    tools have the errors of their methods.

    Args:
        name: Code of the error, written `like_this`.
        type: Object with details; `None` if there are none. In a method or a service it needs a name. An
            object that you write in place has a class with both names: `PayNoMoney` for the error `no_money`
            of the tool `pay`.
        description: One sentence.
        retryable: Whether the same call can succeed later. The runtime retries read-only and idempotent
            tools.

    Example: `d.Error("not_found", Device, "The device does not exist.")`
    """

    name: str
    type: Type | Object | str | None = None
    description: str = ""
    _: KW_ONLY
    retryable: bool = False


class Tags(Names):
    """Label tools for filters.

    The labels of a toolset come before those of the tool.

    Args:
        *names: The labels.

    Example: `d.Tags("devices", "read")`
    """


@dataclass(frozen=True, eq=False, repr=False)
class Suppress(Clause):
    """Hide the findings of one `toolgen lint` rule.

    It applies to a tool, or to all tools of a toolset. `toolgen lint` lists the reason, and reports a
    `Suppress` that hides nothing.

    Args:
        rule: Name of the rule.
        reason: Why the finding does not apply.

    Example: `d.Suppress("many-arguments", "The form of the agency has as many.")`
    """

    rule: Sentence
    reason: Sentence


class Meta(Clause):
    """Add your own facts to the spec and the catalog.

    A fact of a tool replaces the one with the same name of its toolset.

    Args:
        **facts: Any JSON values.

    Example: `d.Meta(icon="lamp", order=3)`
    """

    facts: Final[dict[str, Json]]

    def __init__(self, **facts: Json) -> None:
        super().__init__()
        self.facts = facts


@dataclass(frozen=True, eq=False, repr=False)
class Deprecated(Clause):
    """Mark the tool as deprecated.

    It still works. The description that models read, and the docstring of the executor's method, end with
    "Deprecated: use find_devices." The spec and the catalog contain the reason and the id of the replacement.

    Args:
        reason: Why it should no longer be used.
        replacement: Name of a tool in the same toolset, or `service.toolset.tool`. It must not be deprecated.

    Example: `d.Deprecated("Finds only devices of one site.", replacement="find_devices")`
    """

    reason: Sentence
    _: KW_ONLY
    replacement: str | None = None


class Breaks(Clause):
    """Accept breaking changes of the tool.

    `toolgen breaking` lists these changes with the reason, and does not fail because of them. That includes
    weaker guards, such as a removed `Confirm` (`confirmation-removed`). Remove the clause after the release.

    Args:
        reason: Why the change is acceptable.
        *codes: Codes of accepted changes. By default, all changes of the tool are accepted.

    Example: `d.Breaks("No client has sent it since March.", "argument-removed")`
    """

    reason: Final[Sentence]
    codes: Final[tuple[str, ...]]

    def __init__(self, reason: Sentence, *codes: str) -> None:
        super().__init__()
        self.reason = reason
        self.codes = codes


@dataclass(frozen=True, eq=False, repr=False)
class Icon(Clause):
    """Picture of the tool for user interfaces.

    A tool can have several icons, for different sizes or themes. The spec and the catalog contain them as MCP
    2025-11-25 defines them.

    Args:
        src: `https://` or `http://` URL, or a data URI with an image in base64.
        mime_type: Media type of the image.
        sizes: Sizes in pixels, such as `48x48`, or `any`.
        theme: Background that the icon is made for.

    Example: `d.Icon("https://example.org/lamp.svg", mime_type="image/svg+xml", sizes=("any",))`
    """

    src: str
    _: KW_ONLY
    mime_type: str | None = None
    sizes: Sequence[str] = ()
    theme: IconTheme | None = None


class Annotations(Clause):
    """Describe how the tool behaves.

    The catalog contains the hints with MCP's names. Clients assume the cautious value of an omitted hint.

    Args:
        read_only: Whether the tool changes nothing. If omitted, clients assume that it changes something.
        destructive: Whether it can delete or overwrite something. If omitted, clients assume that it can.
        idempotent: Whether a repeated call has no further effect. If omitted, clients assume that it has one.
        open_world: Whether it reaches outside systems, such as the web. If omitted, clients assume that it
            does.
        edit: Whether it changes the user's own content.

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
