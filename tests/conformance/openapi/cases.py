"""Prints cases of a document as JSON Lines, made by schemathesis; run with `.peers/python` on the path.

Its arguments are the file of the document, the number of cases of each kind for an operation, and a seed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import schemathesis  # type: ignore[import-not-found]  # in an environment of its own
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import GenerationMode  # pyright: ignore[reportMissingImports]


def main(file: str, count: str, seeded: str) -> None:
    every: Any = HealthCheck
    schema: Any = schemathesis.openapi.from_dict(json.loads(Path(file).read_text("utf-8")))
    for result in schema.get_all_operations():
        operation = result.ok()
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            decorate = settings(
                max_examples=int(count),
                database=None,
                deadline=None,
                suppress_health_check=[*every],
                phases=[Phase.generate],
            )
            cases: Any = given(operation.as_strategy(generation_mode=mode))
            tried: Any = seed(int(seeded))(decorate(cases(show)))
            tried()


def show(case: Any) -> None:
    """Print a case, with its values as they are before they are written into a request."""
    has_body = type(case.body).__name__ != "NotSet"
    values: dict[str, Any] = {
        "verb": case.method.upper(),
        "path": case.path,
        "parameters": {
            place: dict(held or {})
            for place, held in (
                ("path", case.path_parameters),
                ("query", case.query),
                ("header", case.headers),
                ("cookie", case.cookies),
            )
        },
        **({"body": case.body} if has_body else {}),
    }
    try:
        print(json.dumps(values, allow_nan=False))
    except (TypeError, ValueError):
        return  # files, and values that no JSON has


if __name__ == "__main__":
    main(*sys.argv[1:])
