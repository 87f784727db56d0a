"""The API of an electricity supplier, as somebody else runs it: HTTP, JSON, a key in a header, pages.

It knows nothing of toolgen. `supplier` starts it on a free port of this machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

KEY: Final = "nordlys-customer-4711"
"""The key of the customer of the demo."""

TARIFFS: Final = (
    {"id": "fixed-12", "name": "Fixed for a year", "monthlyFee": 39.0, "region": "DK2"},
    {"id": "green", "name": "Wind and sun", "monthlyFee": 55.0, "region": "DK2"},
    {"id": "night", "name": "Cheap at night", "monthlyFee": 29.0, "region": "SE3"},
    {"id": "spot", "name": "Spot price by the hour", "monthlyFee": 19.0, "region": "DK2"},
)
PRICES: Final = {"fixed-12": (2.35, 2.35), "green": (2.6, 2.5), "night": (2.9, 1.2), "spot": (3.1, 1.4)}
"""By day and by night, a kilowatt-hour each."""


@contextmanager
def supplier() -> Iterator[str]:
    """Run the API while the block runs; yield its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        match url.path.strip("/").split("/"):
            case _ if self.headers.get("X-Api-Key") != KEY:
                self._answer(401, {"message": "no such key"})
            case ["v1", "tariffs"]:
                self._list({name: values[0] for name, values in parse_qs(url.query).items()})
            case ["v1", "tariffs", id_, "prices"]:
                self._prices(unquote(id_))
            case _:
                self._answer(404, {"message": "no such page"})

    def _list(self, query: dict[str, str]) -> None:
        """Answer with the tariffs of a region by name, from the one that the cursor says."""
        found = [tariff for tariff in TARIFFS if query.get("region") in (None, tariff["region"])]
        begin, size = int(query.get("after", 0)), int(query.get("pageSize", 10))
        page: dict[str, object] = {"tariffs": found[begin : begin + size], "count": len(found)}
        if begin + size < len(found):
            page["next"] = str(begin + size)
        self._answer(200, page)

    def _prices(self, id_: str) -> None:
        if id_ in PRICES:
            day, night = PRICES[id_]
            self._answer(200, {"currency": "DKK", "day": day, "night": night, "updatedBy": "batch-7"})
        else:
            self._answer(404, {"tariff": id_, "known": sorted(PRICES)})

    def _answer(self, status: int, document: dict[str, object]) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: what the demo prints is its own."""
