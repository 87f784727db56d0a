"""One operation of a client: its requests with credentials and redirects, and its result."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, Final, Generic, TypeVar
from urllib.parse import urldefrag, urljoin, urlsplit

import httpx
from pydantic import BaseModel

from toolgen.calls.errors import ToolError
from toolgen.contract.credentials import Credentials
from toolgen.contract.transport import HTTP, IDEMPOTENT_VERBS, SAFE_VERBS, Body, Verb

from .answers import AnswerPlan
from .call import ServedCall
from .connections import ENCODINGS, Connections, ServerAnswer
from .failures import (
    AnswerLostError,
    NotConnectedError,
    RequestFacts,
    answer_lost,
    charset_of,
    malformed,
    not_connected,
    place,
    shown,
)
from .files import FilePart, loaded
from .operation import Operation
from .paging import names_of_request, page_query
from .request_parts import RequestParts, RequestPlan, content_type_of
from .security import (
    NO_CREDENTIALS,
    Applied,
    Keyring,
    Used,
    applied,
    credentials_of,
    with_fields,
    without,
    written_forms,
)
from .servers import Base, Origin

R = TypeVar("R")

TIMEOUT_S: Final = 60.0
"""Seconds for a request if its tool has no time limit of its own."""
_MOST_REDIRECTS: Final = 3
_REDIRECTS: Final = frozenset((301, 302, 303, 307, 308))
_CHANGED_REQUEST: Final = frozenset((301, 302))
"""Redirects that servers send either before or after they execute a request (RFC 9110, 15.4.2 and 15.4.3).

307 and 308 preserve the method and the body: the request was not executed. 303 means that it was.
"""


class MethodSender(Generic[R]):
    """Executes one operation for a client."""

    def __init__(
        self, operation: Operation[Any, R], base: Base, connections: Connections, timeout_s: float | None
    ) -> None:
        """Prepare an operation.

        Raises:
            RegistrationError: The operation does not form a valid request.
        """
        http = operation.transport
        assert isinstance(http, HTTP), "it is an operation of a service over HTTP"
        self.http: HTTP = http
        self._service = operation.service
        self._name = f"{operation.service}.{operation.name}"
        self.base = base
        self.connections = connections
        self._timeout_s = timeout_s
        self._plan = RequestPlan(self._name, http, operation.payload)
        self._answers = AnswerPlan(operation, http)
        self.accept = ", ".join(http.accept) or self._answers.accept

    async def perform(self, payload: BaseModel, call: ServedCall | None, own: Credentials | None) -> R:
        """Return the result for a payload; raises the errors of `HTTPClient.send`."""
        document = self._plan.document(payload)
        parts = self._plan.parts(payload, document)
        if self.http.paging is not None:
            parts.query = page_query(self.http.paging, document, parts.query, names_of_request(self.http))
        exchange = _Exchange(self, parts, await _content(parts, call), call)
        keyring = None
        if any(self.http.security):
            credentials = credentials_of(own, call)
            keyring = Keyring(credentials, self._service, self.http.security, self.base.url)
        limit = self._limit_s(call)
        try:
            async with asyncio.timeout(limit):
                answer, url = await exchange.answered(keyring)
        except TimeoutError:
            why = f"no answer came within {limit:g} seconds"
            if exchange.has_sent:
                raise answer_lost(exchange.request, why, "timeout") from None
            raise not_connected(exchange.request, why) from None
        except NotConnectedError as error:
            if exchange.is_redirected:
                raise answer_lost(exchange.request, str(error)) from None
            raise not_connected(exchange.request, str(error), may_pass=error.may_pass) from None
        except AnswerLostError as error:
            raise answer_lost(exchange.request, str(error), may_pass=error.may_pass) from None
        return self._answers.result(exchange.request, answer, document, url)

    def request(self, call: ServedCall | None) -> RequestFacts:
        """Return the facts of a request for errors."""
        name = tool = self._name
        if call is not None:
            tool = call.context.tool
            name = call.context.spec.name if call.context.spec else tool
        safe_verbs = IDEMPOTENT_VERBS if call is None else SAFE_VERBS  # else the tool decides
        may_repeat = self.http.verb in safe_verbs or (call is not None and call.may_repeat)
        return RequestFacts(name=name, tool=tool, server=self.base.origin.host, may_repeat=may_repeat)

    def _limit_s(self, call: ServedCall | None) -> float | None:
        """Return the seconds for a request; None if the scheduler enforces the limit of the call."""
        left = None if call is None else call.context.time_left
        if self._timeout_s is None:
            return TIMEOUT_S if left is None else None
        return self._timeout_s if left is None or self._timeout_s < left else None

    def is_declared(self, status: int) -> bool:
        """Return whether the design declares a status or its class, not only a default."""
        return self._answers.is_declared(status)


async def _content(parts: RequestParts, call: ServedCall | None) -> dict[str, object]:
    """Return the body for httpx, with the content of its artifacts."""
    if parts.fields is not None:
        fields = [
            (name, await loaded(field, call) if isinstance(field, FilePart) else field)
            for name, field in parts.fields
        ]
        return {"files": fields}
    if isinstance(parts.content, FilePart):
        return {"content": (await loaded(parts.content, call))[1]}
    return {"content": parts.content}


class _Exchange:
    """The requests of one call of an operation."""

    def __init__(
        self, method: MethodSender[Any], parts: RequestParts, content: dict[str, Any], call: ServedCall | None
    ) -> None:
        self._method = method
        self._parts = parts
        self._content = content
        self._call = call
        self.request = method.request(call)
        self._budget = method.connections.budget()
        self.has_sent = False
        self.is_redirected = False
        self._has_run = False
        """Whether status 303 reported that the request was executed, and where to read its result."""
        self._may_have_run = False
        """Whether the last answer was a 301 or 302 to a request that changes something."""

    async def answered(self, keyring: Keyring | None) -> tuple[ServerAnswer, str]:
        """Return the answer, and the URL that it came from; credentials are removed.

        Raises:
            CredentialNeededError: A credential is missing, or was refused.
            ToolError: A redirect is not followed.
            NotConnectedError: Nothing was sent.
            AnswerLostError: No complete answer arrived.
        """
        if keyring is None:
            return await self._followed(NO_CREDENTIALS)
        used = await keyring.first()
        answer, url = await self._followed(applied(used))
        if answer.status == 401:
            used = await keyring.others(used)
            answer, url = await self._followed(applied(used))
            if answer.status == 401:
                raise await keyring.needed(used)
        return self._redacted(answer, used), url

    def _redacted(self, answer: ServerAnswer, used: Used) -> ServerAnswer:
        """Return an answer without repeated credentials."""
        charset = "utf-16" if b"\0" in answer.body[:4] else charset_of(answer.headers)
        secrets, body, headers = written_forms(used, charset), answer.body, answer.headers.raw
        if not any(secret in text for secret in secrets for text in (body, *(text for _, text in headers))):
            return answer
        pairs = [(name, without(secrets, text)) for name, text in headers]
        return replace(answer, body=without(secrets, body, charset), headers=httpx.Headers(pairs))

    async def _followed(self, credentials: Applied) -> tuple[ServerAnswer, str]:
        """Return the answer after redirects within the origin (RFC 9110, section 15.4).

        Any body can be sent again, because it is bytes. All requests are one call, with one limit of time and
        bytes.
        """
        method = self._method
        verb: Verb = method.http.verb
        url = f"{method.base.url}{self._parts.path}"
        if self._parts.query:
            url = f"{url}?{'&'.join(self._parts.query)}"
        has_body = True
        for _ in range(_MOST_REDIRECTS + 1):
            answer = await self._exchanged(verb, url, credentials, has_body=has_body)
            if answer.status not in _REDIRECTS or method.is_declared(answer.status):
                if self._has_run and not 200 <= answer.status < 300:
                    raise malformed(
                        self.request, f"with status 303, and the redirect target with status {answer.status}"
                    )
                return answer, url
            if verb not in SAFE_VERBS:
                self._has_run |= answer.status == 303
                self._may_have_run = answer.status in _CHANGED_REQUEST
            target = self._target(answer, url)
            if target is None:
                return answer, url
            if answer.status == 303 and verb != "HEAD":
                verb, has_body = "GET", False
            if self._may_have_run:
                raise self._not_followed(answer, target, f"a {verb} is repeated only for 307 and 308")
            if _origin(target) != method.base.origin:
                raise self._not_followed(answer, target, "it is at another origin")
            url, self.is_redirected = target, True
        raise self._failed(f"redirects more than {_MOST_REDIRECTS} times")

    def _target(self, answer: ServerAnswer, url: str) -> str | None:
        """Return the target of a redirect; None if it is missing, and the request was not executed.

        Raises:
            ToolError: The target is missing, or not a URL.
        """
        location: str = answer.headers.get("location", "")
        if not location:
            if self._has_run or self._may_have_run:
                raise self._failed(f"redirects without a Location header (status {answer.status})")
            return None
        try:
            return urldefrag(urljoin(url, location)).url
        except ValueError:
            raise self._not_followed(answer, location, "that is not a URL") from None

    def _not_followed(self, answer: ServerAnswer, target: str, why: str) -> ToolError:
        where = f"redirects to {place(target)} (status {answer.status})"
        return self._failed(f"{where}, which was not followed: {why}")

    def _failed(self, why: str) -> ToolError:
        """Return the error of a redirect, which can precede execution (307), follow it (303), or both."""
        request = self.request
        if self._has_run:
            return malformed(request, f"with status 303 and {why}")
        if self._may_have_run:
            return answer_lost(request, f"{request.server} {why}", "malformed_response", may_pass=False)
        return ToolError(f"{request.name} failed: {request.server} {why}")

    async def _exchanged(self, verb: Verb, url: str, credentials: Applied, *, has_body: bool) -> ServerAnswer:
        base, parts, call = self._method.base, self._parts, self._call
        url_parts = url.partition("?")[2].split("&")  # a redirect can have kept them
        if keys := [part for part in credentials.query if part not in url_parts]:
            url = f"{url}{'&' if '?' in url else '?'}{'&'.join(keys)}"
        headers = {"user-agent": "toolgen"} | self._method.connections.headers
        headers |= {"accept": self._method.accept, "accept-encoding": ENCODINGS}
        headers |= {name.lower(): text for name, text in (*parts.headers, *credentials.headers)}
        if not has_body:
            headers.pop("content-type", None)
        if cookies := [*parts.cookies, *credentials.cookies]:
            headers["cookie"] = "; ".join(cookies)
        content = self._content if has_body else {}
        if has_body and credentials.fields:
            body = self._method.http.body or Body(media="form")
            content = with_fields(content, body.media, credentials.fields)
            if content_type := content_type_of(body):
                headers.setdefault("content-type", content_type)
        encoded = [(name.encode("ascii"), text.encode()) for name, text in headers.items()]
        try:
            request = httpx.Request(verb, url, headers=encoded, **content)
        except httpx.InvalidURL as error:
            raise ToolError(f"{self.request.name} was not sent: {shown(str(error))}") from None
        is_once = not (self.request.may_repeat if call is None else call.may_repeat)
        if not is_once:
            await self._begin()
        guarded = base.origin if base.is_guarded else None
        on_send = self._begin if is_once else None
        return await self._method.connections.exchange(request, guarded, on_send, self._budget)

    async def _begin(self) -> None:
        self.has_sent = True
        if self._call is not None:
            await self._call.begin()


def _origin(url: str) -> Origin | None:
    """Return the origin of a URL; None if it contains a user, and if it is not an HTTP URL."""
    try:
        return None if urlsplit(url).username is not None else Origin.of(url)
    except ValueError:
        return None
