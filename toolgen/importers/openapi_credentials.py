"""Parameters of an operation that its credentials fill, so that models do not pass them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from toolgen.contract.findings import Finding

from . import codes
from .clauses_layout import ClauseCall, Named, call, literal
from .codes import finding_at
from .openapi_bodies import RequestBody
from .openapi_document import API, UnreadableError, listed, mapping, text
from .openapi_parameters import ParameterPart
from .openapi_texts import place_count
from .pointers import joined

_TOKENS: Final = frozenset("accesstoken authtoken bearertoken oauthtoken xaccesstoken xauthtoken".split())
"""Names of parameters that a bearer token or an OAuth 2 token fills, in lower case."""
_TOKEN: Final = "token"
"""Name of a header that a token fills unless its description mentions another token.

In other places it might be the token of a page or of an invitation, so the description must identify it as a
credential.
"""
_IS_CREDENTIAL: Final = re.compile(
    r"\b(?:authenticat|authori[sz]|bearer|oauth|access token|api token)", re.IGNORECASE
)
_NO_LETTERS: Final = re.compile(r"[^a-z0-9]")
_PLACES: Final = ("header", "query", "body")
_EMPTY: Final = frozenset(["type", "properties", "required", "description", "title"])
"""Keywords allowed in a schema of an object without properties."""


@dataclass(slots=True, kw_only=True)
class FilledCredentials:
    """Parts of one request that its credentials fill."""

    keys: set[tuple[str, str]]
    """Names and places of API keys; header names are in lower case."""
    tokens: frozenset[str]
    """Variables of schemes with token credentials; empty if a request can lack such a credential."""
    names: dict[str, str] = field(default_factory=dict)
    """Names of parameters that a token fills, by place."""
    pointers: dict[str, str] = field(default_factory=dict)
    """Pointers to the credentials in the document."""
    undecided: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Places and names of possible credentials that remain arguments, by their pointers."""

    def fills(self, parameter: ParameterPart) -> bool:
        """Return whether a credential fills a parameter."""
        name, place = parameter.name, parameter.place
        if parameter.key in self.keys:
            return True
        is_free = bool(self.tokens) and place in _PLACES[:2] and place not in self.names
        if not is_free or not _is_token(name, parameter.value) or _kind(parameter.value) != "string":
            return False
        if place != "header" and not _is_certain(name, parameter.value):
            self.undecided[parameter.pointer] = place, name
            return False
        self.names[place], self.pointers[place] = name, parameter.pointer
        return True

    def take_from(self, body: RequestBody, api: API) -> bool:
        """Remove the property that a token fills from a body, and return whether nothing remains.

        In a JSON object, only the description can identify it; a body that is a component is not changed.
        """
        if not self.tokens or body.media not in ("json", "form", "multipart"):
            return False
        is_own = "$ref" not in mapping(body.schema)
        try:
            schema, place = api.followed(body.schema, body.place)
        except UnreadableError:  # reported by the types
            return False
        properties = mapping(schema.get("properties"))
        for name, part in properties.items():
            value, pointer = mapping(part), joined(place, "properties", name)
            if not _is_token(name, value) or _kind(value) != "string":
                continue
            is_certain = _is_said(value) if body.media == "json" else _is_certain(name, value)
            if not is_own or not is_certain:
                self.undecided[pointer] = "body", name
                continue
            self.names["body"], self.pointers["body"] = name, pointer
            rest = {key: part for key, part in properties.items() if key != name}
            required = [key for key in listed(schema.get("required")) if key != name]
            body.schema = {**schema, "properties": rest, "required": required}
            body.files.pop(name, None)
            return not rest and schema.keys() <= _EMPTY
        return False

    def clauses(self, security: tuple[ClauseCall, ...]) -> tuple[ClauseCall, ...]:
        """Return the clauses of a method with the places of its token."""
        return tuple(map(self._clause, security))

    def _clause(self, clause: ClauseCall) -> ClauseCall:
        if clause.clause != "Security":
            return clause
        first = next(part for part in clause.parts if isinstance(part, str) and part in self.tokens)
        rest = [part for part in clause.parts if part is not first]
        named = [Named(place, literal(self.names[place])) for place in _PLACES if place in self.names]
        return call("Security", first, *rest, *named)


def _is_token(name: str, parameter: Mapping[str, object]) -> bool:
    """Return whether a parameter might be a token of its caller."""
    is_plain = _NO_LETTERS.sub("", name.lower()) == _TOKEN and not text(parameter.get("description"))
    return is_plain or _is_certain(name, parameter)


def _is_certain(name: str, parameter: Mapping[str, object]) -> bool:
    word = _NO_LETTERS.sub("", name.lower())
    return word in _TOKENS or (word == _TOKEN and _is_said(parameter))


def _is_said(parameter: Mapping[str, object]) -> bool:
    return bool(_IS_CREDENTIAL.search(text(parameter.get("description"))))


def _kind(parameter: Mapping[str, object]) -> object:
    """Return the type of a parameter or a property; "string" if it has none."""
    schema = parameter if "schema" not in parameter else mapping(parameter["schema"])
    return schema.get("type", "string")


def filled_findings(
    requests: Iterable[FilledCredentials], repeats: Mapping[tuple[str, str, str], list[str]]
) -> Iterator[Finding]:
    """Yield a finding for each place and name that credentials fill, and that they might fill.

    `repeats` contains parameters that repeat a scheme which their operation does not require, by place, name
    and scheme.
    """
    found: dict[tuple[str, str], list[str]] = {}
    open_: dict[tuple[str, str], list[str]] = {}
    for request in requests:
        for place, name in request.names.items():
            found.setdefault((place, name), []).append(request.pointers[place])
        for pointer, key in request.undecided.items():
            open_.setdefault(key, []).append(pointer)
    for (place, name), pointers in found.items():
        message = f"the {_kind_of(place)} {name!r} is filled by the credential and is not an argument"
        hint = f'if models should pass it, remove {place}="{name}" from Security and add an Attribute'
        yield finding_at(codes.ASSUMED, pointers[0], f"{message} ({place_count(pointers)})", hint=hint)
    for (place, name, scheme), pointers in repeats.items():
        message = f"the {place} parameter {name!r} is filled by the credential {scheme!r}, although "
        message += f"its operation does not require it ({place_count(pointers)})"
        hint = "if it is something else, remove the scheme from Security and add an Attribute"
        yield finding_at(codes.ASSUMED, pointers[0], message, hint=hint)
    for (place, name), pointers in open_.items():
        message = f"the {_kind_of(place)} {name!r} looks like the credential, but is an argument"
        hint = f'if it is the credential, remove the attribute and write {place}="{name}" into Security'
        yield finding_at(codes.ASSUMED, pointers[0], f"{message} ({place_count(pointers)})", hint=hint)


def _kind_of(place: str) -> str:
    return "property of the body" if place == "body" else f"{place} parameter"
