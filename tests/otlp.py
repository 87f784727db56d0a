"""A receiver of OTLP over HTTP on this machine, and the spans that OpenTelemetry's exporter has sent it."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

import requests
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedSpan:
    """A span as it came over the wire, its ids in hex."""

    name: str
    kind: str
    """Such as `CLIENT`."""
    trace: str
    id: str
    parent: str
    """"" for the first span of a trace."""
    links: tuple[tuple[str, str], ...]
    """Trace and id of each linked span."""
    attributes: Mapping[str, Any]
    is_error: bool
    scope: tuple[str, str]
    """Name and version."""

    @property
    def operation(self) -> str:
        return str(self.attributes.get("gen_ai.operation.name", ""))


class Receiver:
    """Takes `POST /v1/traces`, and nothing else."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.headers: list[Mapping[str, str]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                is_zipped = self.headers.get("Content-Encoding") == "gzip"
                receiver.bodies.append(gzip.decompress(body) if is_zipped else body)
                receiver.headers.append({"path": self.path, **dict(self.headers)})
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._providers: list[TracerProvider] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for provider in self._providers:
            provider.shutdown()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def provider(self) -> TracerProvider:
        """Return a provider of its own for one process of the host, which exports to this receiver."""
        session = requests.Session()
        session.trust_env = False  # no proxy stands between
        made = TracerProvider()
        exporter = OTLPSpanExporter(endpoint=f"{self.url}/v1/traces", session=session)
        made.add_span_processor(BatchSpanProcessor(exporter))
        self._providers.append(made)
        return made

    def spans(self) -> tuple[ReceivedSpan, ...]:
        """Return all spans that have ended, in the order of their ends."""
        for provider in self._providers:
            provider.force_flush()
        return tuple(received(self.bodies))


def received(bodies: Iterable[bytes]) -> Iterable[ReceivedSpan]:
    """Yield the spans of some requests."""
    for body in bodies:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            for scope in resource.scope_spans:
                for span in scope.spans:
                    yield ReceivedSpan(
                        name=span.name,
                        kind=span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_"),
                        trace=span.trace_id.hex(),
                        id=span.span_id.hex(),
                        parent=span.parent_span_id.hex(),
                        links=tuple((one.trace_id.hex(), one.span_id.hex()) for one in span.links),
                        attributes={one.key: _value(one.value) for one in span.attributes},
                        is_error=span.status.code == span.status.STATUS_CODE_ERROR,
                        scope=(scope.scope.name, scope.scope.version),
                    )


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(one) for one in value.array_value.values]
    return getattr(value, kind)
