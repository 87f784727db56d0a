"""The operations of an OpenAPI document, and the selection of operations."""

from __future__ import annotations

import difflib
import fnmatch
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import field
from typing import Final

from toolgen.contract.findings import Finding
from toolgen.contract.record import frozen_record
from toolgen.contract.transport import SAFE_VERBS

from . import codes
from .codes import finding_at
from .names import full_name, operation_name
from .openapi_document import API, UnreadableError, listed, mapping, text
from .pointers import joined
from .records import a_kind

_VERBS: Final = ("get", "head", "options", "put", "delete", "post", "patch")
_NO_VERBS: Final = ("trace", "query")
"""Methods that the client cannot send."""
_MOST_SHOWN: Final = 10
"""Maximum number of tags or ids in a hint."""


@frozen_record
class Selection:
    """The selection of operations that become tools, and their names."""

    tags: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    """Ids, names of tools, or patterns for them (`repos-*`)."""
    exclude: tuple[str, ...] = ()
    renamed: dict[str, str] = field(default_factory=dict[str, str])
    """Names of tools by operation id or by name."""
    is_read_only: bool = False
    """Whether only operations with safe methods become tools."""

    def takes(self, operation: OpenAPIOperation) -> bool:
        names = operation.id, operation.name
        if self.is_read_only and operation.verb not in SAFE_VERBS:
            return False
        if self.tags and not set(self.tags) & set(operation.tags):
            return False
        if self.only and not _fits(names, self.only):
            return False
        return not _fits(names, self.exclude)

    def wanted(
        self, readable: Sequence[OpenAPIOperation], taken: Sequence[OpenAPIOperation]
    ) -> dict[str, str]:
        """Return the wanted names of operations by identity, in order.

        A name is from the option or from the id, in its short form if no other operation has the same.
        """
        ids = Counter(operation.id for operation in readable)
        short = Counter(operation.name for operation in readable)
        wanted: dict[str, str] = {}
        for each in taken:
            identity = f"tool {each.id}" if ids[each.id] == 1 else f"tool {each.id} {each.verb} {each.path}"
            option = self.renamed.get(each.id) or self.renamed.get(each.name)
            name = each.name if short[each.name] == 1 else each.full_name
            wanted[f"{identity} as {option}" if option else identity] = option or name
        return wanted

    def unmatched(self, operations: Sequence[OpenAPIOperation]) -> Iterator[Finding]:
        """Yield a finding for each tag, id and pattern that matches no operation of the document."""
        tags = {tag for operation in operations for tag in operation.tags}
        names = {name for operation in operations for name in (operation.id, operation.name)}
        for option, patterns in (("tag", self.tags), ("only", self.only), ("exclude", self.exclude)):
            candidates = tags if option == "tag" else names
            for wanted in patterns:
                if wanted not in candidates and (option == "tag" or not _fits(tuple(names), (wanted,))):
                    yield _no_match(f"--{option}", wanted, candidates)
        for wanted in self.renamed:
            if wanted not in names:
                yield _no_match("--rename", wanted, names)


@frozen_record
class OpenAPIOperation:
    """One operation, with its path item."""

    api: API
    method: str
    path: str
    item: dict[str, object]
    """Path item, with the parameters that its operations share."""
    item_pointer: str
    value: dict[str, object]
    pointer: str

    @property
    def verb(self) -> str:
        return self.method.upper()

    @property
    def id(self) -> str:
        """Operation id in the document; method and path if it has none."""
        written = self.value.get("operationId")
        if isinstance(written, str) and written.strip():
            return written.strip()
        words = "".join(char if char.isascii() and char.isalnum() else " " for char in self.path).split()
        return "_".join([self.method, *words])

    @property
    def name(self) -> str:
        return operation_name(self.id, self.path, self.method)

    @property
    def full_name(self) -> str:
        """Name from the complete id, for use if another operation has the same short name."""
        return full_name(self.id, self.path, self.method)

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(
            each for each in listed(self.value.get("tags")) if isinstance(each, str) and each.strip()
        )

    @property
    def tag(self) -> str:
        """First tag, which determines its toolset; "" for none."""
        return self.tags[0] if self.tags else ""

    @property
    def servers(self) -> object:
        """Servers of the operation or its path; None for those of the document."""
        return self.value.get("servers") or self.item.get("servers")


def operations_of(api: API) -> Iterator[OpenAPIOperation | Finding]:
    """Yield the operations of a document, and findings about unreadable ones."""
    paths = api.document.get("paths")
    if not isinstance(paths, dict):
        yield finding_at(codes.NO_TOOL, "/paths", "the document has no paths", hint="add 'paths'")
        return
    for path, item in paths.items():
        if path.startswith("x-"):
            continue
        try:
            followed, pointer = _item(api, item, joined("/paths", path))
        except UnreadableError as error:
            yield error.finding("")
            continue
        for method in followed:
            if method in _VERBS:
                yield _operation(api, path, followed, pointer, method)
            elif method in _NO_VERBS:
                yield _unsent(method.upper(), followed[method], joined(pointer, method))
        for method, value in mapping(followed.get("additionalOperations")).items():
            yield _unsent(method, value, joined(pointer, "additionalOperations", method))


def _unsent(method: str, value: object, pointer: str) -> Finding:
    """Return the finding about an operation whose method the client cannot send."""
    message = f"the client cannot send {method}; the operation is left out"
    hint = "describe it as POST too if the API accepts that"
    return finding_at(
        codes.BAD_OPERATION, pointer, message, hint=hint, tool=text(mapping(value).get("operationId"))
    )


def _item(api: API, item: object, pointer: str) -> tuple[dict[str, object], str]:
    """Return a path item merged with the target of its `$ref`.

    Own keys take precedence (OAS 3.1.1, 4.8.9.1).
    """
    followed, at = api.followed(item, pointer)
    own = {key: value for key, value in mapping(item).items() if key != "$ref"}
    return ({**followed, **own}, at) if followed is not item else (followed, at)


def _operation(
    api: API, path: str, item: dict[str, object], pointer: str, method: str
) -> OpenAPIOperation | Finding:
    place = joined(pointer, method)
    try:
        if not isinstance(item[method], dict):
            raise UnreadableError(place, f"the operation is {a_kind(item[method])}, not an object")
        value, at = api.followed(item[method], place)
    except UnreadableError as error:
        return error.finding(f"{method}_{path}")
    return OpenAPIOperation(
        api=api, method=method, path=path, item=item, item_pointer=pointer, value=value, pointer=at
    )


def described(operation: OpenAPIOperation) -> tuple[str, str]:
    """Return the title and the description of an operation."""
    summary, description = text(operation.value.get("summary")), text(operation.value.get("description"))
    return (summary.rstrip(".") if description else ""), description or summary


def _no_match(option: str, wanted: str, candidates: Set[str]) -> Finding:
    near = difflib.get_close_matches(wanted, sorted(candidates), n=1, cutoff=0.5)
    what = "tag" if option == "--tag" else "id"
    some = ", ".join(sorted(candidates)[:_MOST_SHOWN]) or "none"
    hint = f"did you mean {near[0]}?" if near else f"{what}s of the document: {some}"
    return finding_at(codes.NO_MATCH, "/paths", f"{option} {wanted!r} matches no operation", hint=hint)


def _fits(names: tuple[str, ...], patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for name in names for pattern in patterns)
