"""The credentials that an API requires, as clauses, with findings about unsupported schemes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Final
from urllib.parse import urljoin

from toolgen.dsl.evaluation.transports.servers import is_address
from toolgen.shapes import naming
from toolgen.shapes.foreign.normal_form import safe_text

from . import codes
from .clauses_layout import ClauseCall, Named, Text, call, literal
from .names import DesignNames, identifier
from .openapi_credentials import FilledCredentials
from .openapi_document import API, UnreadableError, listed, mapping, text
from .openapi_parameters import ParameterPart
from .pointers import joined

_PLACE: Final = "/components/securitySchemes"
_AUTHORIZATION: Final = ("authorization", "header")
_FLOWS: Final = {
    "authorizationCode": "AuthorizationCodeFlow",
    "clientCredentials": "ClientCredentialsFlow",
}
"""Supported flows with their clauses; the flow with a person is first."""


class SecuritySchemes:
    """The security schemes of a document. Each used scheme becomes a variable of the design."""

    def __init__(
        self, api: API, names: DesignNames, find: Callable[..., None], *, address: str, is_accepted: bool
    ) -> None:
        self._api = api
        self._address = address
        """Base of relative URLs; "" for none."""
        self._facts = () if is_accepted else (Named("accepted", literal(False)),)
        """Arguments of each flow in addition to its URLs."""
        self._names = names
        self._find = find
        self._variables: dict[str, str] = {}
        schemes = mapping(mapping(api.document.get("components")).get("securitySchemes"))
        names.assign_all({f"scheme {name}": [_wanted(name)] for name in schemes})
        self._keys: dict[str, tuple[str, str]] = {}
        self._scopes: dict[str, dict[str, str]] = {}
        self._others: dict[str, list[str]] = {}
        """Schemes of further flows, by the scheme of the first flow."""
        self._oauth: dict[str, tuple[str, str, ClauseCall]] = {}
        self._places: dict[tuple[str, str], list[str]] = {}
        self.repeats: dict[tuple[str, str, str], list[str]] = {}
        """Pointers to parameters for schemes that their operations do not require, by place, name, scheme."""
        self.clauses: dict[str, ClauseCall] = {}
        """Clauses of schemes by their variables."""

    def common(self) -> tuple[ClauseCall, ...]:
        """Return the clauses of the service."""
        return self._alternatives(self._api.document.get("security"))

    def of(self, operation: dict[str, object]) -> tuple[ClauseCall, ...]:
        """Return the clauses of an operation whose security differs from the document; () otherwise."""
        own = operation.get("security")
        if not isinstance(own, list) or own == self._api.document.get("security"):
            return ()
        return self._alternatives(own) or ((call("NoSecurity"),) if self.common() else ())

    def keys(self, clauses: tuple[ClauseCall, ...]) -> set[tuple[str, str]]:
        """Return names and places of the API keys that clauses require; header names are in lower case."""
        names = {part for clause in clauses for part in clause.parts if isinstance(part, str)}
        return {self._keys[name] for name in names if name in self._keys}

    def filled(self, clauses: tuple[ClauseCall, ...]) -> FilledCredentials:
        """Return the parts that a request's credentials fill; tokens only if each alternative has one."""
        kinds = ("BearerSecurity", "OAuth2Security")
        tokens = {name for name, clause in self.clauses.items() if clause.clause in kinds}
        needed = [clause for clause in clauses if clause.clause == "Security"]
        has_token = bool(needed) and all(
            any(isinstance(part, str) and part in tokens for part in clause.parts) for clause in needed
        )
        return FilledCredentials(
            keys=self.keys(clauses), tokens=frozenset(tokens) if has_token else frozenset()
        )

    def repeated(
        self, operation: dict[str, object], parameters: Iterable[ParameterPart]
    ) -> tuple[ClauseCall, ...]:
        """Return the clauses of an operation with parameters that are a credential it does not require."""
        own = operation.get("security")
        written = own if isinstance(own, list) else listed(self._api.document.get("security"))
        clauses = self._alternatives(written)
        names = {part for clause in clauses for part in clause.parts if isinstance(part, str)}
        used = {self._keys.get(name, _AUTHORIZATION) for name in names}
        wanted: dict[str, object] = {}
        needed: dict[str, object] = {}
        for parameter in parameters:
            schemes = self._declared().get(parameter.key, [])
            if parameter.key not in used and len(schemes) == 1 and self._variable(schemes[0]):
                wanted[schemes[0]] = []
                if parameter.value.get("required") is True:
                    needed[schemes[0]] = []
                repeat = parameter.place, parameter.name, schemes[0]
                self.repeats.setdefault(repeat, []).append(parameter.pointer)
        if not wanted:
            return ()
        alternatives = [mapping(each) for each in written] or [{}]
        most_first = [{**alternative, **keys} for keys in (wanted, needed) for alternative in alternatives]
        return self._alternatives(most_first)

    def _declared(self) -> dict[tuple[str, str], list[str]]:
        """Return the names of all schemes of the document by the name and place of their credential."""
        schemes = mapping(mapping(self._api.document.get("components")).get("securitySchemes"))
        if not self._places:
            for name, value in schemes.items():
                try:
                    scheme, _ = self._api.followed(value, joined(_PLACE, name))
                except UnreadableError:
                    continue
                key, place = text(scheme.get("name")), text(scheme.get("in"))
                sent = (key.lower() if place == "header" else key, place)
                if scheme.get("type") != "apiKey":
                    sent = _AUTHORIZATION
                self._places.setdefault(sent, []).append(name)
        return self._places

    def _alternatives(self, security: object) -> tuple[ClauseCall, ...]:
        clauses: dict[str, ClauseCall] = {}
        for each in listed(security):
            wanted = mapping(each)
            parts = self._all_of(wanted) if wanted else (call("NoSecurity"),)
            clauses |= {clause.flat: clause for clause in parts}
        parts = tuple(clauses.values())
        return () if parts == (call("NoSecurity"),) else parts

    def _all_of(self, wanted: dict[str, object]) -> tuple[ClauseCall, ...]:
        """Return a clause for credentials that are needed together, and one for each set of other flows."""
        variables = [self._variable(name) for name in wanted]
        places = [self._keys.get(variable, _AUTHORIZATION) for variable in variables]
        if not all(variables) or len(set(places)) < len(places):
            return ()
        clauses = []
        for chosen in product(*([variable, *self._others.get(variable, ())] for variable in variables)):
            scopes: dict[str, None] = {}
            for variable, requested in zip(chosen, wanted.values(), strict=True):
                if variable in self._oauth:
                    own = {str(scope): None for scope in listed(requested)}
                    scopes |= own
                    declared = self._scopes[variable]
                    declared |= {scope: scope for scope in own if scope not in declared}
                    self._write_oauth(variable)
            named = [Named("scopes", literal(list(scopes)))] if scopes else []
            clauses.append(call("Security", *chosen, *named))
        return tuple(clauses)

    def _variable(self, name: str) -> str:
        """Return the variable of a scheme; "" if the client does not support it."""
        if name not in self._variables:
            place = joined(_PLACE, name)
            self._variables[name] = ""
            try:
                written = mapping(mapping(self._api.document.get("components")).get("securitySchemes"))
                scheme, _ = self._api.followed(written.get(name), place)
            except UnreadableError:
                self._find(codes.LEFT_OUT, place, f"the security scheme {name!r} is not defined", "add it")
                return ""
            variable = self._names.assign(f"scheme {name}", _wanted(name))
            self._variables[name] = variable
            if not self._scheme(variable, scheme, place):
                self._variables[name] = ""
        return self._variables[name]

    def _scheme(self, variable: str, scheme: dict[str, object], place: str) -> bool:
        kind, words = text(scheme.get("type")), text(scheme.get("scheme")).lower()
        described = safe_text(text(scheme.get("description"))) or f"{naming.title(variable)}."
        head = literal(variable), Text(described)
        if (
            kind == "apiKey"
            and scheme.get("in") in ("header", "query", "cookie")
            and text(scheme.get("name"))
        ):
            where, key = str(scheme["in"]), text(scheme["name"])
            self._keys[variable] = key.lower() if where == "header" else key, where
            self.clauses[variable] = call("APIKeySecurity", *head, Named(where, literal(key)))
        elif kind == "http" and words in ("basic", "bearer"):
            self.clauses[variable] = call("BasicSecurity" if words == "basic" else "BearerSecurity", *head)
        elif kind == "oauth2":
            self._oauth2(variable, described, mapping(scheme.get("flows")), place)
        elif kind == "openIdConnect" and is_address(self._absolute(scheme.get("openIdConnectUrl"))):
            discovery = Named("discovery", literal(self._absolute(scheme["openIdConnectUrl"])))
            flow = call("AuthorizationCodeFlow", discovery, *self._facts)
            self._oauth[variable] = variable, described, flow
            self._scopes[variable] = {}
            self._write_oauth(variable)
        else:
            what = words if kind == "http" else kind
            message = f"the client does not support {what or 'a scheme without type'!r}; requests lack it"
            self._find(codes.LEFT_OUT, place, message, "add the credential in a proxy of your own")
            return False
        return True

    def _oauth2(self, variable: str, described: str, flows: dict[str, object], place: str) -> None:
        """Add a scheme for each supported flow; without any, the scheme is a bearer token."""
        offered: list[str] = []
        for kind, clause in _FLOWS.items():
            flow = mapping(flows.get(kind))
            addresses = {name: self._absolute(url) for name, url in _addresses(flow, kind)}
            if addresses and all(map(is_address, addresses.values())):
                further = f"{variable}_{naming.snake(kind)}"
                name = self._names.assign(f"scheme {place} {kind}", further) if offered else variable
                offered.append(name)
                named = [Named(name, literal(url)) for name, url in addresses.items()]
                self._oauth[name] = name, described, call(clause, *named, *self._facts)
                self._scopes[name] = {
                    scope: safe_text(text(meaning)) or scope
                    for scope, meaning in mapping(flow.get("scopes")).items()
                }
                self._write_oauth(name)
        if offered:
            self._others[variable] = offered[1:]
            return
        listed_flows = ", ".join(flows) or "none"
        message = f"the client supports none of the OAuth 2 flows ({listed_flows}); a bearer token is used"
        if not _FLOWS.keys().isdisjoint(flows):
            message = f"the OAuth 2 flows ({listed_flows}) have no absolute address; a bearer token is used"
        self._find(codes.ASSUMED, place, message, "pass the token to the client, or add a flow to the design")
        self.clauses[variable] = call("BearerSecurity", literal(variable), Text(described))

    def _absolute(self, url: object) -> str:
        return urljoin(self._address, text(url)) if text(url) else ""

    def _write_oauth(self, variable: str) -> None:
        name, described, flow = self._oauth[variable]
        scopes = [
            call("Scope", literal(scope), Text(meaning)) for scope, meaning in self._scopes[variable].items()
        ]
        self.clauses[variable] = call("OAuth2Security", literal(name), Text(described), flow, *scopes)


def _wanted(name: str) -> str:
    return identifier(naming.snake(name), "a")


def _addresses(flow: dict[str, object], kind: str) -> Iterator[tuple[str, object]]:
    if flow and kind == "authorizationCode":
        yield "authorize", flow.get("authorizationUrl")
    if flow:
        yield "token", flow.get("tokenUrl")
    if kind == "authorizationCode" and text(flow.get("refreshUrl")):
        yield "refresh", flow.get("refreshUrl")
