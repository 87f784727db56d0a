"""Whether a form with brackets fits its schema: qs reads it, as many servers do, and Ajv judges.

Prism cannot say it. It makes an object of each property that may be one, also of one that was not sent, and
misses the parts that the object requires; and it refuses each list of objects.
"""

from __future__ import annotations

import email.parser
import email.policy
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, Final
from urllib.parse import urlencode

import httpx

from .documents import PEERS
from .prism import NODE

_SCRIPT: Final = """
const qs = require("qs"), { default: Ajv } = require("ajv");
const ajv = new Ajv({ strict: false, coerceTypes: true, validateFormats: false }), known = new Map();
const limits = { depth: 50, arrayLimit: 1000, parameterLimit: Infinity, plainObjects: true };
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const [schema, form] = JSON.parse(line), key = JSON.stringify(schema);
  if (!known.has(key)) known.set(key, ajv.compile(schema));
  const fits = known.get(key);
  console.log(JSON.stringify(fits(qs.parse(form, limits)) ? [] : fits.errors));
});
"""


class FormJudge:
    """Judges the forms of one document."""

    def __init__(self, process: subprocess.Popen[str], parts: dict[str, Any]) -> None:
        self._input, self._output = _open(process.stdin), _open(process.stdout)
        self._parts = parts

    def violations(self, request: httpx.Request, schema: dict[str, Any]) -> str:
        """Return what of the body of a request does not fit a schema; "" for nothing."""
        self._input.write(json.dumps([schema | self._parts, _pairs(request)]) + "\n")
        self._input.flush()
        said = self._output.readline()
        assert said, "the judge of forms has ended"
        return "" if said == "[]\n" else said


@contextmanager
def judging_forms(whole: dict[str, Any]) -> Iterator[FormJudge]:
    """Run a judge for a document."""
    pipe = subprocess.PIPE
    with subprocess.Popen([NODE, "-e", _SCRIPT], cwd=PEERS, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield FormJudge(process, {"components": whole.get("components", {})})
        finally:
            process.kill()


def _open(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def _pairs(request: httpx.Request) -> str:
    """Return the fields of a body as a URL-encoded form."""
    media = request.headers["content-type"]
    if not media.startswith("multipart/"):
        return request.content.decode()
    head = f"Content-Type: {media}\r\n\r\n".encode()
    message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + request.content)
    parts = [*message.iter_parts()]
    names = [str(part.get_param("name", header="content-disposition")) for part in parts]
    return urlencode([*zip(names, (part.get_payload(decode=True) for part in parts), strict=True)])
