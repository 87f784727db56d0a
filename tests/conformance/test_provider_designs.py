"""Random designs in the dialects of the providers: every document that fits comes back as it was."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import hypothesis.strategies as st
import jsonschema
from hypothesis import given

from tests.conformance import oracle
from tests.conformance.agreement import documents, drawing, is_same, pick
from tests.conformance.provider_rules import broken, names_broken, without_nullable
from tests.conformance.random_designs import designs
from toolgen import dsl
from toolgen.catalog import parse_catalog
from toolgen.catalog.providers import DIALECTS, Projection, declarations
from toolgen.codegen import generate
from toolgen.dsl import build


def closed(schema: Any, *, is_root: bool = False) -> Any:
    """Return the schema with each object closed that has properties and says nothing of others.

    Dialects that close objects cannot send what a tool does not declare, and say so in their losses.
    """
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {
        key: {name: closed(part) for name, part in value.items()}
        if key in ("properties", "$defs")
        else value
        if key in ("default", "examples", "enum", "const")
        else closed(value)
        for key, value in schema.items()
    }
    if is_root or (made.get("type") == "object" and made.get("properties")):
        made.setdefault("additionalProperties", False)
    return made


def without_default_nulls(document: Any, schema: Any, root: Any) -> Any:
    """Return the document less the nulls that are the default of an optional property, which absence says."""
    for keys, part in list(oracle.places(schema, document, root)):
        if keys and part.get("default", ...) is None:
            *way, last = keys
            parent = document
            for key in way:
                parent = parent[key] if not isinstance(parent, dict) or key in parent else {}
            if isinstance(parent, dict) and parent.get(last, ...) is None:
                parent.pop(last)
    return document


def test_documents_of_random_designs_come_back() -> None:
    seen: Counter[str] = Counter()

    @drawing(24)
    @given(designs(), st.data())
    def check(design: dsl.Design, data: st.DataObject) -> None:
        evaluation = build(design)
        if evaluation.design is None:
            return
        tools = parse_catalog(
            json.loads(generate(evaluation.design, module="tests.random")["tool_schemas.json"])
        ).tools
        tools = tuple({tool["name"]: tool for tool in tools}.values())  # two of one name are refused
        drawn = [_document(tool["payload"]["schema"], data) for tool in tools]
        for dialect in DIALECTS:
            for one, document in zip(declarations(tools, dialect).projections, drawn, strict=True):
                _check(one, document, data)
                seen[dialect] += bool(document)

    check()
    assert all(seen[dialect] > 10 for dialect in DIALECTS), seen


def _document(schema: Any, data: st.DataObject) -> Any:
    own = closed(schema, is_root=True)
    return without_default_nulls(data.draw(documents(own)), own, own)


def _check(one: Projection, document: Any, data: st.DataObject) -> None:
    spoken = one.dialect.name if one.is_strict or not one.dialect.is_strict else one.dialect.plain
    assert not broken(dict(one.schema), spoken), one.schema
    assert not names_broken(one.name, one.dialect.name)
    judge = jsonschema.Draft202012Validator(without_nullable(one.schema))
    sent = one.encode(json.dumps(document))
    assert judge.is_valid(json.loads(sent)), (one.schema, sent)
    assert is_same(json.loads(one.decode(sent)), document), (one.schema, document, sent)
    changed = oracle.mutations(json.loads(sent), pick(data))
    one.decode(json.dumps(changed))  # whatever a model sends
