"""Interpretation of answers: the result, a declared error, or a failure that the design does not declare."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping
from dataclasses import replace
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast
from urllib.parse import parse_qsl

from pydantic import BaseModel
from pydantic_core import from_json, to_json

from toolgen.calls.errors import DeclaredError, ToolError, UnfitAnswerError
from toolgen.contract.json_value import Json, is_json
from toolgen.contract.limits import DEFAULT_LIMITS, count_keys
from toolgen.contract.transport import HTTP, Response
from toolgen.shapes.issues import MOST_WARNINGS, FieldIssue
from toolgen.shapes.values import bytes_text

from .connections import ServerAnswer
from .failures import RequestFacts, busy, charset_of, malformed, refused, shown
from .operation import Operation
from .paging import PageError, names_of_request, set_next
from .reading import MisfitError, Reader

if TYPE_CHECKING:
    from toolgen.shapes.parts import PartReader

R = TypeVar("R")

_MOST_KEYS: Final = 100_000
"""Maximum number of keys and items of a body; the design might not declare most of them."""
_MOST_KEPT: Final = 2 * DEFAULT_LIMITS.keys
"""Maximum number of keys and items of a result, each of which costs about 10 µs on its way to the caller."""
_TEXTS: Final = ("detail", "message", "error_description", "title", "error", "msg")
"""Keys of the error text in a failure's body; RFC 9457 and most other services use the first two."""


class AnswerPlan(Generic[R]):
    """Reader of the answers to one operation."""

    def __init__(self, operation: Operation[Any, R], http: HTTP) -> None:
        self._operation = operation
        self._http = http
        self._responses = {response.status: response for response in http.responses}
        result, errors = operation.result, operation.errors
        self._reader: Reader[R] = Reader(result)
        is_open = getattr(result, "model_config", {}).get("extra") == "allow"
        self._is_nothing = getattr(result, "model_fields", None) == {} and not is_open
        """Whether the method has no result, regardless of the answer's content."""
        self._errors = {spec.name: spec for spec in errors}
        detailed = {spec.name: type_ for spec, type_ in errors.items() if type_ is not None}
        self._details = {name: Reader(type_) for name, type_ in detailed.items()}

    def response(self, status: int) -> Response | None:
        """Return the declared response for a status: for itself, for its class, or the default."""
        classes: tuple[object, ...] = (status, f"{status // 100}XX", "default")
        return next((self._responses[kind] for kind in classes if kind in self._responses), None)

    def is_declared(self, status: int) -> bool:
        """Return whether the design declares a status or its class."""
        return status in self._responses or f"{status // 100}XX" in self._responses

    @property
    def accept(self) -> str:
        """`Accept` header if the design names no media type: JSON; only preferred if there is no result."""
        if self._is_nothing:  # many servers use this type for their failures
            return "application/json, */*;q=0.5"
        is_json = all(response.media == "json" for response in self._http.responses)
        return "application/json" if is_json else "*/*"

    def result(self, request: RequestFacts, answer: ServerAnswer, sent: Mapping[str, Json], url: str) -> R:
        """Return the result of an answer.

        Args:
            request: Facts of the request, for errors.
            answer: Answer with its complete body.
            sent: JSON values of the payload.
            url: URL that the answer came from.

        Raises:
            DeclaredError: The answer is one of the operation's errors.
            ToolError: The answer is another failure, or does not fit.
        """
        response = self.response(answer.status)
        is_good = 200 <= answer.status < 300
        if response is None and is_good and self._operation.is_lenient:
            raise self._undocumented(request, answer, sent, url)
        if response is None and is_good:
            raise malformed(request, f"with status {answer.status}, which its design does not have")
        if response is None:
            raise refused(request, answer.status, answer.headers, answer.body)
        if response.media == "json":
            answer = _in_utf8(answer)
        keys = _keys_of(response, answer)
        if response.error:
            raise self._error(request, response, answer, is_full=keys > _MOST_KEYS)
        if keys > _MOST_KEYS:
            raise malformed(request, f"with more than {_MOST_KEYS} keys and items")
        try:
            result = self._reader.read(self._document(response, answer, sent, url))
        except (MisfitError, PageError) as error:
            raise self._unfit(request, response, answer, sent, url, f"with {error}") from None
        if keys > _MOST_KEPT and count_keys(to_json(result), _MOST_KEPT) > _MOST_KEPT:
            raise malformed(request, f"with a result of more than {_MOST_KEPT} keys and items")
        return result

    def _document(
        self, response: Response, answer: ServerAnswer, sent: Mapping[str, Json], url: str
    ) -> bytes:
        """Return the JSON of a result.

        Raises:
            MisfitError: The body does not have the declared media type.
            PageError: The next page is not at the expected address.
        """
        if self._is_nothing:
            return b"{}"
        if response.media == "json" and not (response.body or response.headers or self._http.paging):
            return answer.body or b"{}"
        body = _body_value(response, answer)
        if not (response.body or isinstance(body, dict) or not answer.body):
            raise MisfitError("something other than an object")
        result = self._result_of(response, answer, body)
        self._set_next(result, body, answer, sent, url)
        return to_json(result)

    def _result_of(self, response: Response, answer: ServerAnswer, body: Json) -> dict[str, Any]:
        """Return the attributes of a result from the body and from headers."""
        is_absent = body is None and not answer.body
        result = {} if is_absent else {response.body: body} if response.body else dict(cast("Any", body))
        return result | _header_values(response, answer, self._reader)

    def _set_next(
        self, result: dict[str, Json], body: Json, answer: ServerAnswer, sent: Mapping[str, Json], url: str
    ) -> None:
        """Set the cursor of the next page.

        Raises:
            PageError: The next page is not at the expected address.
        """
        if (paging := self._http.paging) is not None:
            set_next(paging, sent, result, body, answer.headers, url, names_of_request(self._http))

    def _undocumented(
        self, request: RequestFacts, answer: ServerAnswer, sent: Mapping[str, Json], url: str
    ) -> ToolError:
        """Return the error for a successful answer whose status the design does not declare."""
        known = [response for response in self._http.responses if not response.error]
        response = known[0] if len(known) == 1 else Response(answer.status)
        why = f"has the status {answer.status}, which is not documented"
        issue = FieldIssue(keys=(), constraint="invalid_value", message=why)
        if response.media == "json":
            answer = _in_utf8(answer)
        return self._unfit(request, response, answer, sent, url, f"with a response that {why}", issue)

    def _unfit(
        self,
        request: RequestFacts,
        response: Response,
        answer: ServerAnswer,
        sent: Mapping[str, Json],
        url: str,
        why: str,
        *issues: FieldIssue,
    ) -> ToolError:
        """Return the error for a result that does not fit, with the answer if the service is lenient."""
        plain = malformed(request, why)
        if not self._operation.is_lenient or _keys_of(response, answer) > _MOST_KEYS:
            return plain
        try:
            body = _body_value(response, answer)
            if not is_json(body):  # for example the number 1e400
                raise MisfitError("something other than JSON")
        except MisfitError:
            try:
                body = answer.body.decode(charset_of(answer.headers))
            except UnicodeDecodeError:
                return plain
        if self._is_nothing:
            body = {}
        document: Json = body
        if response.body or isinstance(body, dict) or not answer.body:
            document = result = self._result_of(response, answer, body)
            try:
                self._set_next(result, body, answer, sent, url)
            except PageError as error:
                paging = self._http.paging
                assert paging is not None, "it has pages"
                result.pop(paging.next, None)
                page = FieldIssue(
                    keys=(paging.next,), constraint="invalid_value", message=f"came with {error}"
                )
                issues = (*issues, page)
        parts = self._parts.read(document)
        if count_keys(to_json(parts.json), _MOST_KEPT) > _MOST_KEPT:
            return plain
        return UnfitAnswerError(
            plain.message,
            to_json(document),
            parts.value,
            (*issues, *parts.issues)[:MOST_WARNINGS],
            retry_hint=plain.retry_hint,
            is_sensitive=self._operation.is_sensitive,
        )

    @cached_property
    def _parts(self) -> PartReader:
        from toolgen.shapes.parts import PartReader  # needed only if an answer does not fit

        return PartReader(self._operation.result)

    def _error(
        self, request: RequestFacts, response: Response, answer: ServerAnswer, *, is_full: bool
    ) -> ToolError:
        """Return the declared error of an answer; the plain error of its status if its details do not fit."""
        spec = self._errors.get(response.error)
        plain = refused(request, answer.status, answer.headers, answer.body)
        if spec is None or answer.is_cut or is_full:
            return plain
        details: BaseModel | None = None
        if (reader := self._details.get(spec.name)) is not None:
            try:
                details = reader.read(self._details_document(response, answer))
            except MisfitError:
                return plain
        message = _text_of_failure(answer) or spec.description or f"{request.name} failed: {spec.name}"
        return DeclaredError(
            message,
            code=spec.name,
            details=details,
            retry_hint=busy(request, answer.status, answer.headers, message),
            is_retryable=spec.is_retryable,
        )

    def _details_document(self, response: Response, answer: ServerAnswer) -> bytes:
        """Return the JSON of an error's details.

        Raises:
            MisfitError: The body does not have the declared media type.
        """
        if response.media == "json" and not (response.body or response.headers):
            return answer.body or b"{}"
        body = _body_value(response, answer)
        details: dict[str, Any] = dict(body) if isinstance(body, dict) else {}
        if response.body:
            details = {response.body: body}
        return to_json(details | _header_values(response, answer, self._details[response.error]))


def _in_utf8(answer: ServerAnswer) -> ServerAnswer:
    """Return an answer whose JSON is in UTF-8, without a byte order mark (RFC 8259, section 8.1).

    JSON in another charset that its Content-Type declares is decoded, because some services send it.
    """
    body = answer.body
    if body.startswith(codecs.BOM_UTF8):
        encoding = "utf-8-sig"
    elif b"\0" in body[:4]:
        is_marked = body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        encoding = "utf-16" if is_marked else "utf-16-be" if body[:1] == b"\0" else "utf-16-le"
    elif body.isascii() or (encoding := charset_of(answer.headers)) == "utf-8":
        return answer
    try:
        body = body.decode(encoding).encode()
    except UnicodeError:
        return answer
    headers = answer.headers.copy()
    headers["content-type"] = f"{headers.get('content-type', '').partition(';')[0]};charset=utf-8"
    return replace(answer, body=body, headers=headers)


def _keys_of(response: Response, answer: ServerAnswer) -> int:
    """Return the number of keys and items of a body, or an upper bound of it."""
    match response.media:
        case "json":
            return count_keys(answer.body, _MOST_KEPT)
        case "form":
            return answer.body.count(b"&") + 1
        case _:
            return 0


def _body_value(response: Response, answer: ServerAnswer) -> Json:
    """Return the body of an answer as a JSON value; None if there is none.

    Raises:
        MisfitError: The body does not have the declared media type.
    """
    if not answer.body and response.media == "json":
        return None
    match response.media:
        case "bytes":
            return bytes_text(answer.body)
        case "text":
            return answer.body.decode(charset_of(answer.headers), errors="replace")
        case "form":
            pairs = parse_qsl(answer.body.decode(errors="replace"), keep_blank_values=True)
            values: dict[str, Json] = {}
            for key, text in pairs:
                values.setdefault(key, text)
            return values
        case _:
            try:
                return from_json(answer.body, allow_inf_nan=False)  # type: ignore[no-any-return]  # JSON
            except ValueError:
                raise MisfitError("something other than JSON") from None


def _header_values(response: Response, answer: ServerAnswer, reader: Reader[Any]) -> dict[str, Json]:
    """Return the attributes in headers; for each, the first interpretation of its text that fits."""
    values: dict[str, Json] = {}
    for attribute, name in response.headers.items():
        if (text := answer.headers.get(name)) is not None:
            fitting = reader.fitting(attribute, _readings(text))
            values[attribute] = text if fitting is None else from_json(fitting)
    return values


def _readings(text: str) -> Iterator[bytes]:
    """Yield possible JSON forms of a header: text, JSON, lists of either, a date."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    yield to_json(text)
    yield to_json(parts)
    yield text.encode()
    yield f"[{','.join(parts)}]".encode()
    try:
        yield to_json(parsedate_to_datetime(text).isoformat().replace("+00:00", "Z"))
    except (ValueError, OverflowError):
        return


def _text_of_failure(answer: ServerAnswer) -> str:
    """Return the error text in a body; "" if there is none."""
    try:
        document = from_json(answer.body)
    except ValueError:
        return ""
    if not isinstance(document, dict):
        return ""
    texts = (document.get(key) for key in _TEXTS)
    return next((shown(text) for text in texts if isinstance(text, str) and text.strip()), "")
