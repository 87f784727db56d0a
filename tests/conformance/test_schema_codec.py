"""Codecs of schemas at run time accept what the schemas accept: real tools, and the suite of JSON Schema.

A codec accepts a document exactly when its schema accepts it with the defaults of absent required properties.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.conformance import corpora, oracle
from toolgen.runtime import ToolgenError, ToolValidationError
from toolgen.runtime.functions import Codec, json_schema_codec


def accepts(codec: Codec[Any], document: Any) -> bool:
    try:
        value = codec.decode(json.dumps(document))
    except ToolValidationError:
        return False
    assert json.loads(codec.encode(value)) == oracle.filled(document, codec.schema)
    return True


def is_as_filled(codec: Codec[Any], document: Any) -> bool:
    """Return whether the codec accepts a document just when it accepts the filled one."""
    return accepts(codec, document) == accepts(codec, oracle.filled(document, codec.schema))


def documents() -> Iterator[tuple[str, Mapping[str, Any], list[Any], list[Any]]]:
    """Yield each schema of the tools, with what fits it and what does not."""
    for record in (record for file in corpora.files() for record in corpora.records(file)):
        if not record.is_broken:
            yield record.id, record.input_schema, record.valid, record.invalid
        if record.output_schema is not None and not record.has_broken_output:
            yield record.id, record.output_schema, record.results, record.wrong_results


def test_the_tools_of_the_corpora() -> None:
    corpora.require()
    wrong, seen = [], 0
    for name, schema, valid, invalid in documents():
        try:
            codec = json_schema_codec(schema, name)
        except ToolgenError as error:
            wrong.append((name, str(error)))
            continue
        wrong += [(name, f"refused {one}") for one in valid if not accepts(codec, one)]
        refused = [one for one in invalid if oracle.filled(one, codec.schema) == one]
        wrong += [(name, f"accepted {one}") for one in refused if accepts(codec, one)]
        wrong += [(name, f"not as filled: {one}") for one in invalid if not is_as_filled(codec, one)]
        seen += len(valid) + len(invalid)
    assert seen > 9_000
    assert wrong == []


def test_the_suite_of_json_schema() -> None:
    corpora.require()
    wrong, seen = [], 0
    for group in corpora.lines(corpora.SUITE):
        if group["format_assertion"] or group["needs_remote"]:
            continue
        try:
            codec = json_schema_codec(group["schema"], group["id"])
        except ToolgenError as error:
            wrong.append((group["id"], str(error)))
            continue
        for test in group["tests"]:
            seen += 1
            if accepts(codec, test["data"]) != test["valid"]:
                wrong.append((group["id"], test["description"]))
    assert seen > 600
    assert wrong == []
