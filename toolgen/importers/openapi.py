"""`openapi`: the operations of an OpenAPI 3 document as the methods of a service, each with its tool.

The design describes each request and the meaning of each response, so the generated client needs no code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import partial
from typing import Final, TypeAlias

from toolgen.contract.errors import ToolgenError
from toolgen.contract.findings import Code, Finding
from toolgen.contract.record import frozen_record
from toolgen.shapes import naming
from toolgen.shapes.foreign.normal_form import safe_text

from . import codes
from .boundary import findings_for_exceptions
from .clauses_built import BuiltDesign, NotExpressibleError
from .clauses_layout import ClauseCall, Named, Text, call, literal
from .codes import finding_at
from .design import DesignFiles, fact_clauses
from .names import RENAMED, RENAMED_HINT, DesignNames
from .openapi_answers import AnswerWriter, answers_of
from .openapi_components import Components
from .openapi_credentials import FilledCredentials, filled_findings
from .openapi_document import API, UnreadableError, listed, mapping, text
from .openapi_faults import Draft, Faults
from .openapi_ledger import loosened_unions, lost_parts, shortened_schemas
from .openapi_module import OpenAPIModule, ServiceParts
from .openapi_notes import NotedSchema, SchemaLedger
from .openapi_operations import OpenAPIOperation, Selection, described, operations_of
from .openapi_parameters import listed_parameters
from .openapi_requests import request_of
from .openapi_security import SecuritySchemes
from .openapi_servers import ServerOptions, base_address, is_relative, server_clauses, unfit_values
from .openapi_types import TypeBook
from .records import a_kind
from .swagger import Swagger, is_swagger
from .text import SourceDocument
from .tool import ImportedTool

_DEPRECATED = "The API marks this operation as deprecated."

Progress: TypeAlias = Callable[[str, int, int, str], None]
"""Receives the current step, the number of completed items, their total, and the name of the current one."""
_USER: Final = re.compile(r"//[^/@]*@")
"""User and password in a URL, which messages omit."""


@frozen_record
class OpenAPIOptions:
    """The selection of operations that become a design, and the servers that it calls."""

    selection: Selection = field(default_factory=Selection)
    servers: ServerOptions = field(default_factory=ServerOptions)


def _ignore(what: str, done: int, count: int, current: str) -> None:
    """Ignore the progress."""


def openapi_files(
    document: SourceDocument,
    read: Callable[[str], object] | None = None,
    *,
    name: str,
    service: str,
    options: OpenAPIOptions | None = None,
    names: Mapping[str, str] | None = None,
    progress: Progress = _ignore,
) -> DesignFiles:
    """Return the design module of a document, and the schemas that it refers to.

    `read` returns the content of another file in the document's folder, by its relative path; `names` are the
    names of the last import. `progress` is called before each operation and each type.

    Raises:
        ToolgenError: The document is not OpenAPI 3 or Swagger 2.0.
    """
    value = _checked(document.value)
    swagger = Swagger(value, read, document.base) if is_swagger(value) else None
    if swagger is not None:
        value, read = swagger.converted(), swagger.file if read else None
    api, options = API(value, read, document.base), options or OpenAPIOptions()
    files = _Importer(api, document, name, service, options, DesignNames(names), progress).files()
    return replace(files, findings=swagger.findings(files.findings)) if swagger else files


def _checked(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ToolgenError(
            f"the document is {a_kind(value)}, not an OpenAPI document",
            hint="pass a document that starts with 'openapi'",
        )
    if is_swagger(value):
        return value
    if "swagger" in value:
        raise ToolgenError(
            f"the document is Swagger {value['swagger']!r}; toolgen reads Swagger 2.0 and OpenAPI 3",
            hint="ask its author for a newer version",
        )
    version = value.get("openapi")
    if not isinstance(version, str) or not re.match(r"3\.\d", version):
        fault = f"says openapi {version!r}" if "openapi" in value else "has no 'openapi'"
        raise ToolgenError(
            f"the document {fault}; toolgen reads OpenAPI 3.0 or later", hint="add openapi: 3.1.0"
        )
    return value


class _Importer:
    def __init__(
        self,
        api: API,
        document: SourceDocument,
        name: str,
        service: str,
        options: OpenAPIOptions,
        names: DesignNames,
        progress: Progress,
    ) -> None:
        self._progress = progress
        self._api = api
        self._names = names
        self._name = name
        self._service = service
        self._called: dict[tuple[str, ...], str] = {}
        """Names of services by their servers."""
        self._options = options
        self._findings: list[Finding] = list(document.findings)
        self._find = partial(_add_finding, self._findings)  # a method would be a cycle of all that is read
        self._components = Components(api)
        self._module = OpenAPIModule(name, names, _about(api, name), _tags(api))
        self._types = TypeBook(self._components, name, names, self._find)
        address = base_address(api.document.get("servers"), options.servers, api.base)
        accepted = options.servers.is_accepted
        self._securities = SecuritySchemes(api, names, self._find, address=address, is_accepted=accepted)
        self._filled: list[FilledCredentials] = []
        self._faults = Faults(self._types, self._find)

    def files(self) -> DesignFiles:
        drafts = list(self._drafts())
        self._types.scan([cut for draft in drafts for cut in (draft.payload, *draft.answers.cuts())])
        self._name_packages(drafts)
        self._types.name()
        self._findings += filled_findings(self._filled, self._securities.repeats)
        self._findings += lost_parts(self._api, (draft.operation for draft in drafts))
        files: dict[str, str] = {}
        services: list[ServiceParts] = []
        while drafts and not files:
            services = self._services(drafts)
            if not services:
                break
            statements = self._module.statements(services, self._types, self._securities.clauses)
            built = BuiltDesign(statements, self._types.untyped.files)
            if built.faults:
                drafts = self._faults.without(drafts, built.faults)
            else:
                files = self._module.files(statements, self._types)
                self._findings += self._dangling()
                ledger = SchemaLedger(self._components, built, self._types.names())
                self._findings += ledger.findings(self._sources(drafts), tuple(self._findings))
        self._findings += loosened_unions(self._components.alternatives.loosened)
        self._findings += shortened_schemas(self._types.untyped.shortened)
        imported = sum(len(each.methods) for each in services) if files else 0
        findings = tuple(dict.fromkeys(self._findings))
        return DesignFiles(files=files, findings=findings, imported=imported, names=self._names.assigned)

    def _name_packages(self, drafts: list[Draft]) -> None:
        """Name the services, one for each list of servers, that of the document first, and their toolsets."""
        written = self._api.document.get("servers")
        own = _key(server_clauses(written, self._options.servers, self._api.base))
        found = ((self._servers(draft.operation), draft.operation.tag) for draft in drafts)
        tags = dict.fromkeys((_key(servers), tag) for servers, tag in found)
        keys = sorted(dict.fromkeys(key for key, _ in tags), key=lambda key: key != own)
        is_taken = self._service == self._name and naming.class_name(self._service) in self._types.bases
        wanted = [self._service, f"{self._service}_service"][is_taken:]
        identities = {key: "service" if key == own else f"service {' '.join(key)}" for key in keys}
        names: dict[str, str] = {}
        for alike in (keys[:1], keys[1:]):
            names |= self._names.assign_all({identities[key]: wanted for key in alike})
            wanted = [*names.values()][:1]
        self._called = {key: names[identity] for key, identity in identities.items()}
        self._module.name_toolsets((self._called[key], tag) for key, tag in tags)

    def _dangling(self) -> Iterator[Finding]:
        """Yield the findings about dangling references."""
        for place, error in self._api.dangling.items():
            message = f"{error.message}; any JSON is accepted in its place"
            yield finding_at(codes.LEFT_OUT, place, message, hint=error.hint)

    def _sources(self, drafts: Iterable[Draft]) -> Iterator[NotedSchema]:
        """Yield the schemas of components and of operations, with the classes generated from them."""
        yield from self._types.sources()
        for draft in drafts:
            answers = [cut for cut in draft.answers.cuts() if cut.properties]
            for cut, sides in ((draft.payload, ["payload"]), *((each, ["result"]) for each in answers)):
                for schema, place in cut.properties.values():
                    classes = tuple(naming.class_name(draft.name, side) for side in sides)
                    yield NotedSchema(
                        schema=schema,
                        pointer=place,
                        direction=cut.direction,
                        name=draft.operation.id,
                        written=classes,
                    )

    def _services(self, drafts: list[Draft]) -> list[ServiceParts]:
        """Return the services of operations; their types are written again."""
        self._types.write(partial(self._progress, "types read"))
        common = self._securities.common()
        services: dict[tuple[str, ...], ServiceParts] = {}
        for number, draft in enumerate(drafts):
            self._progress("operations written", number, len(drafts), draft.operation.id)
            servers = self._servers(draft.operation)
            key = _key(servers)
            if key not in services:
                services[key] = ServiceParts(name=self._called[key], servers=servers, security=common)
            with findings_for_exceptions(self._findings, draft.operation.pointer, draft.operation.id):
                self._write(draft, services[key])
        return [each for each in services.values() if each.methods]

    def _drafts(self) -> Iterator[Draft]:
        selection = self._options.selection
        operations = list(operations_of(self._api))
        self._findings += [each for each in operations if isinstance(each, Finding)]
        readable = [each for each in operations if isinstance(each, OpenAPIOperation)]
        self._findings += selection.unmatched(readable)
        taken = [operation for operation in readable if selection.takes(operation)]
        named = self._named(readable, taken)
        for number, (operation, name) in enumerate(zip(taken, named, strict=True)):
            self._progress("operations read", number, len(taken), operation.id)
            with findings_for_exceptions(self._findings, operation.pointer, operation.id):
                try:
                    yield self._draft(operation, name)
                except UnreadableError as error:
                    self._findings.append(error.finding(operation.id))

    def _draft(self, operation: OpenAPIOperation, name: str) -> Draft:
        find = partial(self._find, tool=operation.id)
        security = self._securities.of(operation.value)
        common = self._securities.common()
        security = self._securities.repeated(operation.value, listed_parameters(operation)) or security
        filled = self._securities.filled(security or common)
        request = request_of(operation, filled, self._names, find)
        self._filled.append(filled)
        payload = request.cut(self._types, find)
        answers = answers_of(operation, self._types, find)
        return Draft(
            operation=operation,
            name=name,
            request=request,
            payload=payload,
            answers=answers,
            security=filled.clauses(security or common) if filled.names else security,
        )

    def _named(self, readable: list[OpenAPIOperation], taken: list[OpenAPIOperation]) -> list[str]:
        """Return the names of operations."""
        wanted = self._options.selection.wanted(readable, taken)
        names = list(self._names.assign_all({identity: [name] for identity, name in wanted.items()}).values())
        for operation, name, first in zip(taken, names, wanted.values(), strict=True):
            if name != first:
                message = RENAMED.format(name, first)
                self._find(codes.RENAMED, operation.pointer, message, RENAMED_HINT, tool=operation.id)
        return names

    def _servers(self, operation: OpenAPIOperation) -> tuple[ClauseCall, ...]:
        written = operation.servers or self._api.document.get("servers")
        servers = server_clauses(written, self._options.servers, self._api.base)
        place, tool = (operation.pointer, operation.id) if operation.servers else ("/servers", "")
        for server in map(mapping, listed(written)):
            for name, values in unfit_values(text(server.get("url")), server).items():
                shown = ", ".join(map(repr, values))
                message = f"the address is not valid with {shown} for {{{name}}}, which is left out"
                self._find(codes.LEFT_OUT, place, message, "correct the values of the variable", tool=tool)
        if is_relative(servers[0]):
            message = "the document has no absolute server address"
            urls = [str(each["url"]) for each in listed(written) if isinstance(each, dict) and "url" in each]
            addresses = ", ".join(repr(_USER.sub("//…@", url)) for url in urls)
            message = f"{message}, only {addresses}" if addresses else message
            hint = f"pass --server https://…, or write the address into {servers[0].flat} of the design"
            self._find(codes.NO_SERVER, place, message, hint, tool=tool)
        return servers

    def _write(self, draft: Draft, service: ServiceParts) -> None:
        operation, name, request = draft.operation, draft.name, draft.request
        writer = AnswerWriter(self._types, self._components, self._names)
        try:
            payload_class = naming.class_name(name, "payload")
            payload = (
                self._faults.expressed(
                    draft, "payload", lambda: self._types.written(draft.payload, payload_class, None)
                )
                if request.properties
                else None
            )
            result, responses = self._faults.expressed(
                draft, "result", lambda: writer.result(draft.answers, naming.class_name(name, "result"))
            )
            find = partial(self._find, tool=operation.id)
            errors = self._faults.errors(draft, writer.errors(draft.answers, name, operation.id, find))
        except NotExpressibleError as error:
            unreadable = UnreadableError(operation.pointer, f"the design cannot express it: {error}")
            self._findings.append(unreadable.finding(operation.id))
            return
        title, description = map(safe_text, described(operation))
        if not description:
            description = f"{naming.title(name)}."
            hint = "describe in the design when to use the tool"
            self._find(codes.NO_DESCRIPTION, operation.pointer, "has no description", hint, tool=operation.id)
        placed = [*request.clauses.values(), *([request.body] if request.body else [])]
        placed += writer.accept(draft.answers)
        http = call("HTTP", call(operation.verb, literal(request.path)), *placed, *responses)
        if errors:
            http = call("HTTP", *http.parts, *(response for _, response in errors))
        method = [
            *([call("Payload", *payload.parts)] if payload and payload.parts else []),
            *result,
            *(error for error, _ in errors),
            http,
            *draft.security,
        ]
        about = title or description.split("\n")[0]
        service.methods[name] = literal(name), Text(about), method
        service.tools.setdefault(operation.tag, []).append(self._tool(draft, title, description))

    def _tool(self, draft: Draft, title: str, description: str) -> ClauseCall:
        operation, name = draft.operation, draft.name
        facts = ImportedTool(
            name=operation.id,
            description=description,
            arguments={},
            annotations={"destructive": True} if operation.verb == "DELETE" else {},
            deprecated=_DEPRECATED if operation.value.get("deprecated") is True else "",
        )
        is_telling = bool(title) and naming.words(title) != naming.words(name)
        named = [Named("title", Text(title))] if is_telling else []
        example = [call("Example", literal(draft.request.example))] if draft.request.example else []
        clauses = call("BindTo", literal(name)), *fact_clauses(facts, name), *example
        return call("Tool", literal(name), Text(description), *clauses, *named)


def _add_finding(
    findings: list[Finding], code: Code, pointer: str, message: str, hint: str = "", *, tool: str = ""
) -> None:
    findings.append(finding_at(code, pointer, message, hint=hint, tool=tool))


def _key(servers: tuple[ClauseCall, ...]) -> tuple[str, ...]:
    """Return the key that distinguishes services: the text of their servers."""
    return tuple(server.flat for server in servers)


def _about(api: API, name: str) -> str:
    info = api.document.get("info")
    info = info if isinstance(info, dict) else {}
    return safe_text(text(info.get("description")) or text(info.get("title"))) or f"{naming.title(name)}."


def _tags(api: API) -> dict[str, str]:
    """Return the descriptions of tags by name."""
    tags = map(mapping, listed(api.document.get("tags")))
    return {text(tag.get("name")): safe_text(text(tag.get("description"))) for tag in tags}
