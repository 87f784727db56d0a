"""Facts of a tool, which are the same in the design, in its catalog and at run time."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from inspect import getattr_static
from typing import Final, Generic, TypeVar
from urllib.parse import urlsplit

from .json_value import Json
from .names import ArtifactAudience, ArtifactView, Hint, IconTheme
from .record import frozen_record

T = TypeVar("T")
U = TypeVar("U")
_DATA: Final = re.compile(r"data:image/[a-z0-9.+-]+;base64,[A-Za-z0-9+/]+={0,2}")
_MIME_TYPE: Final = re.compile(r"image/[a-z0-9][a-z0-9.+-]*")
_FOREIGN: Final = re.compile(r'[\x00-\x20\x7f"<>\\^`{|}]')
"""Characters that a URI cannot contain (RFC 3986, appendix A)."""
_SIZE: Final = re.compile(r"any|[1-9][0-9]{0,4}x[1-9][0-9]{0,4}")


@frozen_record
class Deprecation:
    """Marks a tool that still works but should not be used any more."""

    reason: str
    replacement: str = ""
    """ID of the tool to use instead; "" if there is none."""

    def added_to(self, description: str, replacement: str) -> str:
        """Return a description that ends with a sentence about the deprecation.

        `replacement` is the name of the tool to use instead; "" for none, in which case the sentence has the
        reason.
        """
        notice = f"Deprecated: use {replacement}" if replacement else f"Deprecated: {self.reason}"
        return " ".join(_sentence(text) for text in (description.rstrip(), notice) if text)


@frozen_record
class Icon:
    """A picture of the tool (MCP 2025-11-25, `Icon`)."""

    src: str
    """An http or https URL, or a data URI."""
    mime_type: str = ""
    """Media type, if `src` does not contain it; "" if unknown."""
    sizes: tuple[str, ...] = ()
    """Sizes, each `any` or width and height in pixels: `48x48`."""
    theme: IconTheme | None = None
    """Background that the icon is designed for; None for any."""


@frozen_record
class ToolFacts:
    """The facts of a tool that are plain values: no types, codecs or schemas.

    A checked tool and a catalog record contain them. The spec of a tool inherits them, because generated code
    passes them to its constructor by keyword.
    """

    title: str = ""
    """Name for people."""
    description: str
    """Description for the model."""
    icons: tuple[Icon, ...] = ()
    """Icons for user interfaces."""
    deprecated: Deprecation | None = None
    """Why the tool should no longer be used, and its replacement."""
    tags: tuple[str, ...] = ()
    """Tags of the toolset, then those of the tool."""
    annotations: Mapping[Hint, bool] = field(default_factory=dict)
    """Behavior hints that the author set."""
    meta: Mapping[str, Json] = field(default_factory=dict)
    """Other metadata, for clients."""
    timeout: float | None = None
    """Maximum seconds of an execution."""
    is_sequential: bool = False
    """Whether its calls run one at a time."""
    sequential_by: str = ""
    """Scope of sequential calls: `session`, the name of an argument (one call per value among the tools of
    the toolset), or "" for the whole runtime."""
    is_terminal: bool = False
    """Whether its result ends the turn."""
    is_bookkeeping: bool = False
    """Whether its calls do not count towards the limits of a run."""
    instructions: str = ""
    """Instructions for the model."""
    reminder: str = ""
    """Reminder for the model after each result."""
    call_hint: str = ""
    """Text for people before the call; `{field}` stands for an argument."""
    result_hint: str = ""
    """Text for people after the call; `{field}` stands for a field of the result."""
    needs: tuple[str, ...] = ()
    """Names of the capabilities that the executor needs."""
    is_lenient: bool = False
    """Whether answers of a lenient service that do not fit are passed on."""


@frozen_record
class Bounded:
    """Marks a result that shows a part of more data. Cursors are JSON keys of payload and result."""

    cursor: str | None = None
    next_cursor: str | None = None
    items: str | None = None
    """JSON key of the result's only list, which `returned` counts; None if it has several or none."""


# The classes below are generic in the representation of a type: the name of a class in the design, the entry
# of a type in a catalog, a codec at run time.


@frozen_record
class Artifact(Generic[T]):
    """One kind of artifact of a tool."""

    kind: str
    type: T
    description: str = ""
    view: ArtifactView | None = None
    """View in a user interface; None if the author did not set one."""
    audience: ArtifactAudience = "user"


@frozen_record
class Error(Generic[T]):
    """A declared failure; the model reads its name."""

    name: str
    description: str
    type: T | None = None
    """Type of the details; None for an error that has none."""
    is_retryable: bool = False


@frozen_record
class Confirmation(Generic[T]):
    """The approval of a person that the call requires."""

    hint: str = ""
    """Question for the person; `{field}` stands for an argument."""
    when: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)
    """Values by argument: approval is required only if each argument has one of its values. Empty means
    always."""
    payload: T | None = None
    """Type of the values that the person can add to an approval."""
    grantable: bool = False
    """Whether an answer can approve further calls of the session."""

    def typed(self, convert: Callable[[T], U]) -> Confirmation[U]:
        """Internal: return the same facts with converted types."""
        payload = None if self.payload is None else convert(self.payload)
        return Confirmation(hint=self.hint, when=self.when, payload=payload, grantable=self.grantable)


@frozen_record
class LongRunning(Generic[T]):
    """Marks a tool that can return its result later."""

    ack: T | None = None
    """Type of the acknowledgement that the model gets at once."""
    progress: T | None = None
    """Type of the progress that is reported until the result arrives."""

    def typed(self, convert: Callable[[T], U]) -> LongRunning[U]:
        """Internal: return the same facts with converted types."""
        ack, progress = (None if text is None else convert(text) for text in (self.ack, self.progress))
        return LongRunning(ack=ack, progress=progress)


def _sentence(text: str) -> str:
    return text if text[-1:] in (".", "!", "?", "…") else f"{text}."


def is_icon_source(src: str) -> bool:
    """Return whether a text is an http or https URL, or a data URI of an image."""
    if not src.isascii() or _FOREIGN.search(src):
        return False
    try:
        parts = urlsplit(src)
    except ValueError:
        return False
    return bool(_DATA.fullmatch(src)) or (parts.scheme in ("http", "https") and bool(parts.hostname))


def is_image_type(mime_type: str) -> bool:
    """Return whether a text is the MIME type of an image."""
    return bool(_MIME_TYPE.fullmatch(mime_type))


def is_icon_size(size: str) -> bool:
    """Return whether a text is `any`, or a width and a height in pixels, for example `48x48`."""
    return bool(_SIZE.fullmatch(size))


def service_problems(executor: object) -> list[str]:
    """Return the problems of services that lack a method that a generated executor calls.

    A service that was not passed is not a problem here: a generated client is created at its first use, and
    an author's class might not need one.
    """
    needed: Mapping[str, Sequence[str]] = getattr_static(type(executor), "_service_methods", {})
    services = {name: getattr(executor, "__dict__", {}).get(f"_{name}") for name in needed}
    problems = [
        f"{name} is a class, not an instance; pass an instance: {service.__name__}(…)"
        for name, service in services.items()
        if isinstance(service, type)
    ]
    for name, service in services.items():
        for method in needed[name]:
            if service is not None and not callable(getattr(service, method, None)):
                from .executor_problems import missing_service_method

                problems.append(missing_service_method(name, service, method))
    return problems
