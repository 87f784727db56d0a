"""The targets of a design: the address, request, function or source name of each part."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import field
from typing import Final, TypeAlias

from toolgen.contract.record import frozen_record
from toolgen.dsl.words import PREFIXES

Targets: TypeAlias = dict[str, str]
"""Targets by place, for example `tool:pay` → `POST https://shop.example/pay`."""

FLOWS: Final = ("AuthorizationCodeFlow", "ClientCredentialsFlow")
_SCHEMES: Final = ("APIKeySecurity", "BasicSecurity", "BearerSecurity", "OAuth2Security")
OWNERS: Final = ("Type", "Tool", "Method")
"""Clauses that have attributes."""
SIDES: Final = {"Args": "argument", "Payload": "argument", "Return": "result", "Result": "result"}
_WITHOUT_SECURITY: Final = frozenset(("Error", "HTTP", "Payload", "Result", "Toolset", "Type"))
"""Clauses that hold no service and no security, and most of a design."""
_LEAVES: Final = (ast.Constant, ast.Name, ast.expr_context, ast.operator)
"""Nodes that contain no clause."""
_PARAMETERS: Final = {"Header": "header", "Cookie": "cookie", "Param": "query"}


def clause_of(node: ast.AST) -> str:
    """Return the clause that an expression calls, regardless of imports; empty for other expressions."""
    if not isinstance(node, ast.Call):
        return ""
    name, called = "", node.func
    if isinstance(called, ast.Name):
        name = called.id
    elif isinstance(called, ast.Attribute) and isinstance(called.value, (ast.Name, ast.Attribute)):
        name = called.attr
    return name if name in PREFIXES else ""


def _inner(node: ast.AST) -> list[ast.AST]:
    """Return the parts of a node that may contain clauses, in the order of the text."""
    parts: Iterable[ast.AST]
    if isinstance(node, ast.Call):
        called = node.func
        while isinstance(called, ast.Attribute):
            called = called.value
        parts = [called, *node.args, *[word.value for word in node.keywords]]
    elif isinstance(node, (ast.List, ast.Tuple)):
        parts = node.elts
    else:
        parts = ast.iter_child_nodes(node)
    return [part for part in parts if not isinstance(part, _LEAVES)]


def clauses_in(nodes: Iterable[ast.AST], *names: str, outside: Container[str] = ()) -> Iterator[ast.Call]:
    """Yield all calls of these clauses, in the order of the text, except those in a clause of `outside`."""
    waiting = [*nodes][::-1]
    while waiting:
        node = waiting.pop()
        clause = clause_of(node)
        if isinstance(node, ast.Call) and clause in names:
            yield node
        waiting += _inner(node)[::-1] if clause not in outside else ()


def _only(clauses: Iterable[ast.Call], *names: str) -> Iterator[ast.Call]:
    return (each for each in clauses if clause_of(each) in names)


def name_in(node: ast.AST) -> str:
    """Return the string that is the first argument of a clause; empty if there is none."""
    return _text_at(node, 0)


def method_of(node: ast.AST) -> str:
    """Return the method to which a tool is bound; empty if it is not bound."""
    return next((_text_at(child, -1) for child in _children(node, "BindTo")), "")


def own_name(node: ast.AST) -> str:
    """Return the name of a tool in its source."""
    return meta_name(node) or name_in(node)


def meta_name(node: ast.AST) -> str:
    """Return the name in the `Meta` of a tool; empty if there is none."""
    names = (keyword for child in _children(node, "Meta") for keyword in child.keywords)
    values = (each.value for each in names if each.arg == "name")
    return next((str(each.value) for each in values if isinstance(each, ast.Constant)), "")


def address_of(node: ast.Call) -> str:
    """Return the addresses of a server or an OAuth 2 flow, whether accepted or not."""
    first, *variables = [*node.args] or [ast.Constant("")]
    named = [f"{each.arg} {_plain(each.value)}" for each in node.keywords if each.arg != "accepted"]
    shown = [ast.unparse(each) for each in variables]
    return ", ".join([*([_plain(first)] if node.args else []), *shown, *named])


def is_accepted(node: ast.Call) -> bool:
    """Return whether the addresses of a server or a flow are accepted."""
    values = (each.value for each in node.keywords if each.arg == "accepted")
    return not any(isinstance(each, ast.Constant) and each.value is False for each in values)


def addresses_in(trees: Iterable[ast.AST]) -> Iterator[tuple[str, ast.Call]]:
    """Yield the servers and flows with the place of their owner; empty if they have no owner."""
    waiting = [("", node) for node in trees]
    while waiting:
        owner, node = waiting.pop()
        match clause_of(node):
            case "Service":
                owner = f"server:{name_in(node)}"
            case clause if clause in _SCHEMES:
                owner = f"credential:{name_in(node)}"
            case clause if isinstance(node, ast.Call) and clause in ("Server", *FLOWS):
                yield owner, node
        waiting += [(owner, child) for child in _inner(node)]


def accepted_in(trees: Iterable[ast.AST]) -> set[tuple[str, str]]:
    """Return the accepted addresses, each with the place of its owner."""
    return {(owner, address_of(node)) for owner, node in addresses_in(trees) if is_accepted(node)}


def request_of(node: ast.AST) -> str:
    """Return verb and path of a method, or the function that it calls; empty if it has neither."""
    for child in _children(node, "HTTP"):
        for request in child.args[:1]:
            if verb := clause_of(request):
                return f"{verb} {name_in(request)}"
    return next((f"function {name_in(child)}" for child in _children(node, "Function")), "")


@frozen_record
class Methods:
    """The requests or functions of the methods of a module, by method name."""

    requests: dict[str, str] = field(default_factory=dict)
    """Verb and path, for example `POST /pay`, or the function."""
    targets: dict[str, str] = field(default_factory=dict)
    """The same, with the address of the server."""
    names: dict[str, str] = field(default_factory=dict)
    """Name in the source."""


def methods_in(tree: ast.AST) -> Methods:
    """Return the requests and functions of a module's methods."""
    return _methods([*clauses_in([tree], "Service", "Method", "Tool")])


def _methods(clauses: Sequence[ast.Call]) -> Methods:
    requests: dict[str, str] = {}
    targets: dict[str, str] = {}
    for service in _only(clauses, "Service"):
        server = next((name_in(each) for each in _children(service, "Server")), "")
        module = next((name_in(each) for each in _children(service, "Functions")), "")
        for method in _children(service, "Method"):
            name = name_in(method)
            request = request_of(method) or (f"function {module}:{name}" if module else "")
            requests[name] = request
            verb, _, path = request.partition(" ")
            targets[name] = f"{verb} {server}{path}" if path.startswith("/") else request
    for method in _only(clauses, "Method"):
        requests.setdefault(name_in(method), request_of(method))
    names = {method_of(tool): own_name(tool) for tool in _only(clauses, "Tool")}
    return Methods(requests=requests, targets=targets, names=names)


def targets_in(tree: ast.AST) -> Targets:
    """Return the targets of an imported module by place."""
    targets: Targets = {}
    clauses = [*clauses_in([tree], "Service", *_SCHEMES, *OWNERS)]
    services = [*_only(clauses, "Service")]
    for service in services:
        for number, server in enumerate(_children(service, "Server")):
            place = f"server:{name_in(service)}"
            targets[f"{place}.{number + 1}" if number else place] = address_of(server)
    for scheme in _only(clauses, *_SCHEMES):
        targets[f"credential:{name_in(scheme)}"] = _credential(scheme)
    targets |= dict(_credentials_sent(tree, services))
    methods = _methods(clauses)
    for tool in _only(clauses, "Tool"):
        targets[f"tool:{name_in(tool)}"] = methods.targets.get(method_of(tool)) or own_name(tool)
    for owner in _only(clauses, *OWNERS):
        attributes = attributes_of(owner)
        targets |= {place: name_in(attribute) for place, attribute in attributes.items()}
        for http in _children(owner, "HTTP"):
            targets |= dict(_parameters(http, name_in(owner), attributes))
    return targets


def attributes_of(owner: ast.Call) -> dict[str, ast.Call]:
    """Return the attributes of a tool, a method or a type by place, for example `argument:pay.amount`."""
    if clause_of(owner) == "Type":
        return _attributes(owner.args, f"attribute:{name_in(owner)}")
    attributes: dict[str, ast.Call] = {}
    for side in _children(owner, *SIDES):
        attributes |= _attributes(side.args, f"{SIDES[clause_of(side)]}:{name_in(owner)}")
    return attributes


def _credential(scheme: ast.Call) -> str:
    """Return the place to which a credential is sent, or the addresses that issue it."""
    match clause_of(scheme):
        case "APIKeySecurity":
            places = (each for each in scheme.keywords if each.arg in ("header", "query", "cookie"))
            return ", ".join(f"{each.arg} {_plain(each.value)}" for each in places)
        case "OAuth2Security":
            return "; ".join(address_of(each) for each in _children(scheme, *FLOWS))
        case name:
            return f"header Authorization ({name.removesuffix('Security').lower()})"


def _schemes(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Yield the security schemes of a module by their variables."""
    for each in ast.iter_child_nodes(tree):
        match each:
            case ast.Assign(targets=[ast.Name(id=variable), *_], value=ast.Call() as scheme) if (
                clause_of(scheme) in _SCHEMES
            ):
                yield variable, scheme


def _credentials_sent(tree: ast.AST, services: Iterable[ast.Call]) -> Iterator[tuple[str, str]]:
    """Yield by place the credentials of each method, as alternative sets, and their destination address."""
    schemes = {variable: name_in(scheme) for variable, scheme in _schemes(tree)}

    def sets_of(owner: ast.Call) -> list[str]:
        sets: list[str] = []
        for each in _children(owner, "Security", "NoSecurity"):
            names = [schemes.get(ast.unparse(part), ast.unparse(part)) for part in each.args]
            scopes = [
                ast.unparse(word.value).replace(" ", "") for word in each.keywords if word.arg == "scopes"
            ]
            copies = [f"({place}:{name})" for place, name in _copies(each)]
            sets.append("+".join([*names, *scopes, *copies]) or "none")
        return sets

    for service in services:
        common = sets_of(service) or ["none"]
        for server in [*_children(service, "Server")][:1]:
            for method in _children(service, "Method"):
                sets = sets_of(method) or common
                yield f"security:{name_in(method)}", f"{'|'.join(sets)} {name_in(server)}"


def _copies(security: ast.Call) -> Iterator[tuple[str, str]]:
    """Yield the further places of a credential, with its name there."""
    for word in security.keywords:
        if word.arg in ("header", "query", "body"):
            yield word.arg, _plain(word.value)


@frozen_record
class SentCredential:
    """A credential that a client sends if it has one."""

    service: str
    scheme: str
    place: str
    """Place in a request, for example `header X-Key`; for OAuth 2, the addresses that issue a token."""
    copies: tuple[str, ...]
    """Further places in the requests of some methods, for example `query token`."""
    has_client: bool
    """Whether an OAuth 2 client with an id and a secret obtains it."""
    servers: tuple[str, ...]
    """Addresses of the service; none if the host provides one."""


def credentials_in(tree: ast.AST) -> Iterator[SentCredential]:
    """Yield the credentials that the services of a module send, each scheme of a service once."""
    schemes = dict(_schemes(tree))
    for service in clauses_in([tree], "Service", outside=_WITHOUT_SECURITY):
        written = (name_in(each) for each in _children(service, "Server"))
        servers = tuple(url for url in written if not url.startswith("/"))
        copies: dict[str, dict[str, None]] = {}
        found: dict[str, ast.Call] = {}
        for each in clauses_in([service], "Security", outside=_WITHOUT_SECURITY):
            for number, part in enumerate(each.args):
                scheme = schemes.get(ast.unparse(part), part)
                if isinstance(scheme, ast.Call):
                    name = name_in(scheme)
                    found[name] = scheme
                    own = [] if number else [f"{place} {key}" for place, key in _copies(each)]
                    copies[name] = copies.get(name, {}) | dict.fromkeys(own)
        for name, scheme in found.items():
            yield SentCredential(
                service=name_in(service),
                scheme=name,
                place=_credential(scheme),
                copies=tuple(sorted(copies[name])),
                has_client=clause_of(scheme) == "OAuth2Security",
                servers=servers,
            )


def _parameters(http: ast.Call, method: str, attributes: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield by place the position of each argument in its request."""
    verb, path = clause_of(http.args[0]), name_in(http.args[0])
    placed = {name_in(each): each for each in _children(http, *_PARAMETERS)}
    has_body = verb in ("PUT", "POST", "PATCH") or any(_children(http, "Body"))
    for place in attributes:
        name = place.removeprefix(f"argument:{method}.")
        if name == place or "." in name:
            continue
        clause = placed.get(name)
        own = (_text_at(clause, 1) if clause else "") or name
        if f"{{{own}}}" in path:
            yield place, f"path {own}"
        elif clause is not None:
            yield place, f"{_PARAMETERS[clause_of(clause)]} {own}"
        else:
            yield place, f"{'body' if has_body else 'query'} {own}"


def _attributes(nodes: Iterable[ast.AST], prefix: str) -> dict[str, ast.Call]:
    attributes: dict[str, ast.Call] = {}
    waiting = [(node, prefix) for node in nodes]
    while waiting:
        node, within = waiting.pop()
        if isinstance(node, ast.Call) and clause_of(node) == "Attribute":
            within = f"{within}.{name_in(node)}"
            attributes[within] = node
        waiting += [(child, within) for child in _inner(node)]
    return attributes


def _children(node: ast.AST, *names: str) -> Iterator[ast.Call]:
    for child in node.args if isinstance(node, ast.Call) else ():
        if isinstance(child, ast.Call) and clause_of(child) in names:
            yield child


def _text_at(node: ast.AST | None, index: int) -> str:
    match node:
        case ast.Call(args=[*args]) if args and -1 <= index < len(args):
            match args[index]:
                case ast.Constant(value=str(text)):
                    return text
    return ""


def _plain(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ast.unparse(node)
