"""Credentials: schemes, and the requirements of each method."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from toolgen.contract.transport import OAuthFlow, Requirement, SecurityScheme
from toolgen.contract.transport import Security as CheckedSecurity

from ...clause import Clause
from ...expr import codes
from ...expr.source import Source
from ...security import (
    APIKeySecurity,
    AuthorizationCodeFlow,
    BasicSecurity,
    BearerSecurity,
    ClientCredentialsFlow,
    NoSecurity,
    OAuth2Security,
    Scheme,
    Security,
)
from ..checks.names import Unique, check_snake, described
from ..report import Report, suggestion
from .headers import header_fault
from .servers import is_address

_Place: TypeAlias = Literal["header", "query", "cookie"]


class SchemeResolver:
    """The schemes of one service, each resolved once."""

    def __init__(self, service: str, report: Report) -> None:
        self._report = report
        self._unique = Unique(report, f"service {service!r}")
        self._schemes: dict[int, SecurityScheme] = {}

    def of(self, children: Iterable[Clause]) -> CheckedSecurity | None:
        """Return the alternatives in the clauses of a service or a method; None if there are none."""
        written = [child for child in children if isinstance(child, Security | NoSecurity)]
        if not written:
            return None
        if all(isinstance(child, NoSecurity) for child in written):
            return ()
        return tuple(self._all_of(child) if isinstance(child, Security) else () for child in written)

    def _all_of(self, clause: Security) -> tuple[Requirement, ...]:
        schemes = [self._scheme(scheme) for scheme in clause.children]
        if not schemes:  # wrong children were reported
            return ()
        declared = list(dict.fromkeys(scope for scheme in schemes for scope in scheme.scopes))
        for scope in clause.scopes:
            if scope not in declared:
                hint = suggestion(scope, declared, f'add Scope("{scope}", "…") to an OAuth2Security')
                names = " and ".join(repr(scheme.name) for scheme in schemes)
                self._report.add(codes.UNKNOWN_SCOPE, clause.source, scope=scope, schemes=names, hint=hint)
        requirements = tuple(
            Requirement(scheme, tuple(scope for scope in clause.scopes if scope in scheme.scopes))
            for scheme in schemes
        )
        self._check_copies(clause, schemes[0])
        header, query, body = (each or "" for each in (clause.header, clause.query, clause.body))
        first = replace(requirements[0], header=header, query=query, body=body)
        requirements = (first, *requirements[1:])
        self._check_places(clause, requirements)
        return requirements

    def _check_copies(self, clause: Security, scheme: SecurityScheme) -> None:
        """Report an additional place that a credential cannot have."""
        copies = {"header": clause.header, "query": clause.query, "body": clause.body}
        for place, name in copies.items():
            if name is None:
                continue
            fault = header_fault(name) if place == "header" else "" if name else "is empty"
            if fault:
                hint = f'write {place}="…" with the name that the service reads'
                self._refuse(scheme.name, f"has the {place} {name!r}, which {fault}", hint, clause.source)
            elif scheme.kind == "basic":
                hint = f"remove {place}; the header Authorization contains user and password"
                self._refuse(
                    scheme.name, f"is not a single value for the {place} {name!r}", hint, clause.source
                )

    def _check_places(self, clause: Security, requirements: Iterable[Requirement]) -> None:
        """Report two schemes that are required together and use the same place."""
        first: dict[tuple[str, str], SecurityScheme] = {}
        for scheme, (place, name) in (
            (each.scheme, found) for each in requirements for found in places_of(each)
        ):
            other = first.setdefault((place, name.lower() if place == "header" else name), scheme)
            if other is not scheme:
                fault = f"and {other.name!r} use the same place, but are required together"
                hint = "write a Security for each, so that they are alternatives"
                self._refuse(scheme.name, fault, hint, clause.source)

    def _scheme(self, clause: Scheme) -> SecurityScheme:
        if id(clause) not in self._schemes:
            check_snake(self._report, "a security scheme", clause.name, clause.source)
            checked = self._checked(clause)
            same = next((each for each in self._schemes.values() if each == checked), None)
            if same is None:
                self._unique.add("security scheme", clause.name, clause.source)
            self._schemes[id(clause)] = checked
        return self._schemes[id(clause)]

    def _checked(self, clause: Scheme) -> SecurityScheme:
        what = f"security scheme {clause.name!r}"
        description = described(self._report, what, clause.description, clause.source)
        match clause:
            case APIKeySecurity():
                return self._key(clause, description)
            case BasicSecurity():
                return SecurityScheme(name=clause.name, kind="basic", description=description)
            case BearerSecurity():
                return SecurityScheme(name=clause.name, kind="bearer", description=description)
            case OAuth2Security():
                return SecurityScheme(
                    name=clause.name,
                    kind="oauth2",
                    description=description,
                    flow=self._flow(clause.flow, clause.name),
                    scopes=self._scopes(clause, what),
                )

    def _scopes(self, clause: OAuth2Security, what: str) -> dict[str, str]:
        report, unique = self._report, Unique(self._report, what)
        scopes: dict[str, str] = {}
        for scope in clause.children:
            if unique.add("scope", scope.name, scope.source):
                text = f"scope {scope.name!r}"
                scopes[scope.name] = described(report, text, scope.description, scope.source)
        return scopes

    def _key(self, clause: APIKeySecurity, description: str) -> SecurityScheme:
        places: dict[_Place, str | None] = {
            "header": clause.header,
            "query": clause.query,
            "cookie": clause.cookie,
        }
        written: list[tuple[_Place, str]] = [(place, key) for place, key in places.items() if key is not None]
        if len(written) != 1:
            fault = "has no place" if not written else f"has {len(written)} places"
            hint = 'write one of header="X-Api-Key", query="key" and cookie="key"'
            self._refuse(clause.name, fault, hint, clause.source)
        place, key = written[0] if written else ("header", "")
        fault = header_fault(key, is_credential=True) if written and place != "query" else ""
        if written and (fault or not key):
            text = f"has the {place} {key!r}, which {fault or 'is empty'}"
            hint = f'write {place}="…" with the name that the service reads'
            self._refuse(clause.name, text, hint, clause.source)
        return SecurityScheme(name=clause.name, kind="api_key", description=description, place=place, key=key)

    def _flow(self, flow: AuthorizationCodeFlow | ClientCredentialsFlow, scheme: str) -> OAuthFlow:
        for fault, hint in _flow_faults(flow):
            self._refuse(scheme, fault, hint, flow.source)
        token, discovery = flow.token or "", flow.discovery or ""
        if isinstance(flow, ClientCredentialsFlow):
            return OAuthFlow(
                kind="client_credentials", token=token, discovery=discovery, is_accepted=flow.accepted
            )
        return OAuthFlow(
            kind="authorization_code",
            token=token,
            authorize=flow.authorize or "",
            refresh=flow.refresh or "",
            discovery=discovery,
            is_accepted=flow.accepted,
        )

    def _refuse(self, name: str, fault: str, hint: str, source: Source) -> None:
        self._report.add(codes.BAD_SECURITY, source, name=name, fault=fault, hint=hint)


def places_of(requirement: Requirement) -> Iterator[tuple[str, str]]:
    """Yield the places of a credential in a request, by place and name."""
    scheme = requirement.scheme
    yield (scheme.place, scheme.key) if scheme.kind == "api_key" else ("header", "Authorization")
    for place in ("header", "query", "body"):
        if name := getattr(requirement, place):
            yield place, name


def _flow_faults(flow: AuthorizationCodeFlow | ClientCredentialsFlow) -> Iterator[tuple[str, str]]:
    """Yield the faults in the addresses of a flow, each with its hint."""
    needed: Sequence[str] = ("authorize", "token") if isinstance(flow, AuthorizationCodeFlow) else ("token",)
    missing = [name for name in needed if getattr(flow, name) is None]
    if missing and flow.discovery is None:
        hint = f'write {missing[0]}="https://…", or discovery="https://…" for URLs in metadata'
        yield f"has no URL to {'sign in' if missing[0] == 'authorize' else 'get a token'}", hint
    for name in ("authorize", "token", "refresh", "discovery"):
        url = getattr(flow, name, None)
        if url is not None and not is_address(url):
            fault = f"has {name}={url!r}, which is not an absolute http or https URL"
            yield fault, f'write {name}="https://…"'
