"""What of an OpenAPI document a design may not hold costs as little as it can."""

from __future__ import annotations

from typing import Any

import pytest

from tests.importers.operations import answer, body, design, operation

SPACED = {"type": "object", "properties": {"two words": {"type": "integer"}}}
FILE = {"type": "string", "format": "binary"}
OBJECT = {"type": "object", "properties": {"a": {"type": "integer"}}}


def test_a_name_that_no_attribute_may_have_keeps_its_schema() -> None:
    files = operation(
        body(SPACED) | {"responses": {"200": answer({"$ref": "#/components/schemas/Odd"})}},
        schemas={"Odd": SPACED},
    )
    assert files.imported == 1
    assert not files.findings
    assert 'Odd = d.JSONSchema("api_schemas/Odd.json", name="Odd")' in design(files)


def test_a_parameter_whose_name_holds_a_space_is_sent_by_that_name() -> None:
    parameter = {"name": "two words", "in": "query", "schema": {"type": "string"}}
    assert 'http.Param("two_words", "two words")' in design(operation({"parameters": [parameter]}))


def test_a_tag_that_no_branch_may_be_called_keeps_the_schema_of_its_union() -> None:
    union = {
        "oneOf": [{"$ref": "#/components/schemas/A"}, {"$ref": "#/components/schemas/B"}],
        "discriminator": {"propertyName": "kind", "mapping": {"of a": "#/components/schemas/A"}},
    }
    files = operation(body(union), schemas={"A": OBJECT, "B": OBJECT})
    assert files.imported == 1
    assert not files.findings


def test_a_type_without_a_finite_value_is_a_schema() -> None:
    node = {
        "type": "object",
        "required": ["parent"],
        "properties": {"parent": {"$ref": "#/components/schemas/Node"}},
    }
    files = operation(body({"$ref": "#/components/schemas/Node"}), schemas={"Node": node})
    assert files.imported == 1
    assert 'Node = d.JSONSchema("api_schemas/Node.json", name="Node")' in design(files)


def test_types_that_lead_to_each_other_by_a_union_that_stays_a_schema_cost_nothing_else() -> None:
    condition = {"$ref": "#/components/schemas/Condition"}
    nested = {"$ref": "#/components/schemas/Nested"}
    files = operation(
        body({"$ref": "#/components/schemas/Query"}),
        schemas={
            "Query": {"type": "object", "properties": {"formula": {"anyOf": [condition]}}},
            "Condition": {"anyOf": [{}, nested]},
            "Nested": {
                "type": "object",
                "required": ["filter"],
                "properties": {"filter": {"$ref": "#/components/schemas/Filter"}},
            },
            "Filter": {"type": "object", "properties": {"must": {"anyOf": [condition, {"type": "array"}]}}},
        },
    )
    assert files.imported == 1
    assert not files.findings
    assert 'Condition = d.JSONSchema("api_schemas/Condition.json", name="Condition")' in design(files)


def test_a_pattern_that_cannot_be_read_costs_its_schema_only() -> None:
    schema = {"type": "string", "pattern": "(", "format": "odd"}
    files = operation({"parameters": [{"name": "q", "in": "query", "schema": schema}]})
    assert files.imported == 1
    [finding] = files.findings
    assert finding.code == "import-left-out"
    assert "'(', which is not a regular expression" in finding.message


@pytest.mark.parametrize(
    ("style", "schema", "clause"),
    [
        ("deepObject", {"type": "array", "items": {"type": "string"}}, 'http.Param("q", "q[]")'),
        ("deepObject", {"type": "object", "properties": {"a": {}}}, 'http.Param("q", style="deepObject")'),
        ("deepObject", {"anyOf": [{"type": "integer"}, OBJECT]}, 'http.Param("q", style="deepObject")'),
        ("deepObject", {"type": "string"}, 'http.HTTP(http.POST("/x"), http.Param("q"))'),
        ("pipeDelimited", {"type": "string"}, 'http.HTTP(http.POST("/x"), http.Param("q"))'),
    ],
)
def test_a_style_for_other_values_is_what_servers_take_it_for(
    style: str, schema: dict[str, object], clause: str
) -> None:
    parameter = {"name": "q", "in": "query", "style": style, "explode": True, "schema": schema}
    files = operation({"parameters": [parameter]})
    assert files.imported == 1
    assert clause in design(files)


def test_an_empty_body_of_a_get_is_nothing_and_another_one_a_loss() -> None:
    empty = {"type": "object", "properties": {}, "additionalProperties": False}
    for schema, codes in ((empty, []), (OBJECT, ["import-left-out"])):
        files = operation({}, get={"summary": "Get x.", **body(schema, required=False)})
        assert [finding.code for finding in files.findings] == codes


FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


@pytest.mark.parametrize("media", FORMS)
def test_a_form_has_objects_in_brackets_where_its_document_says_so(media: str) -> None:
    deep = {"style": "deepObject", "explode": True}
    part = {"anyOf": [{"$ref": "#/components/schemas/Part"}, {"enum": [""]}]}
    schema = {"type": "object", "properties": {"a": part, "b": {"type": "string"}}}
    described: dict[str, Any] = {"schema": schema, "encoding": {"a": deep}}
    files = operation({"requestBody": {"content": {media: described}}}, schemas={"Part": OBJECT})
    assert files.findings == ()
    assert 'style="deepObject")' in design(files)
    described["schema"]["properties"]["c"] = {"type": "array", "items": part}
    [finding] = operation({"requestBody": {"content": {media: described}}}, schemas={"Part": OBJECT}).findings
    assert finding.code == "import-left-out"
    assert finding.message == "the form has lists and objects in brackets, also for c"


@pytest.mark.parametrize("encoding", [{"style": "pipeDelimited"}, {"explode": False}])
def test_a_form_whose_parts_are_written_otherwise_says_so(encoding: dict[str, object]) -> None:
    media = {"schema": OBJECT, "encoding": {"a": encoding}}
    files = operation({"requestBody": {"content": {FORMS[0]: media}}})
    [finding] = files.findings
    assert finding.code == "import-left-out"
    assert finding.message == "the form has repeated lists and objects as JSON, also for a"


def test_two_flows_of_a_scheme_are_two_schemes_of_which_one_is_needed() -> None:
    scopes = {"read": "Read."}
    flows = {
        "clientCredentials": {"tokenUrl": "https://x.example/token", "scopes": scopes},
        "authorizationCode": {
            "authorizationUrl": "https://x.example/authorize",
            "tokenUrl": "https://x.example/token",
            "scopes": scopes,
        },
    }
    scheme = {"type": "oauth2", "flows": flows}
    text = design(operation({"security": [{"login": ["read"]}]}, securitySchemes={"login": scheme}))
    assert (
        'http.Security(login, scopes=["read"]), http.Security(login_client_credentials, scopes=["read"])'
        in text
    )
    assert 'login = http.OAuth2Security("login", "Login.", http.AuthorizationCodeFlow(' in text
    assert 'login_client_credentials = http.OAuth2Security("login_client_credentials", ' in text


def test_schemas_that_join_each_other_twice_at_each_level_end_soon() -> None:
    schemas: dict[str, object] = {"S30": OBJECT}
    for n in range(30):
        schemas[f"S{n}"] = {"allOf": [{"$ref": f"#/components/schemas/S{n + 1}"}] * 2}
    files = operation(body({"$ref": "#/components/schemas/S0"}), schemas=schemas)
    [finding] = files.findings
    assert finding.message == "allOf joins more than 1,000 schemas here"


def test_parameters_of_one_name_in_python_are_two_arguments() -> None:
    parameters = [
        {"name": name, "in": "query", "schema": {"type": "string"}} for name in ("a-b", "a_b", "aB")
    ]
    files = operation({"parameters": parameters})
    assert files.imported == 1
    assert [finding.code for finding in files.findings] == ["import-renamed"] * 2
    assert "the parameter 'a_b' is the argument 'a_b_query'" in files.findings[0].message
    assert 'http.Param("a_b_query", "a_b"), http.Param("aB_query_2", "aB")' in " ".join(design(files).split())


def test_a_title_of_a_component_that_its_name_does_not_say_is_kept() -> None:
    schemas = {"Odd": OBJECT | {"title": "A Fine Volume"}, "BookList": OBJECT | {"title": "Book list"}}
    two = {
        "type": "object",
        "properties": {name: {"$ref": f"#/components/schemas/{name}"} for name in schemas},
    }
    files = operation(body(two), schemas=schemas)
    assert files.findings == ()
    assert design(files).count("title=") == 1
    assert 'title="A Fine Volume"' in design(files)


def test_a_type_that_only_a_schema_refers_to_is_not_in_the_design() -> None:
    spaced = {"two words": {"$ref": "#/components/schemas/Deep"}}
    files = operation(
        body({"$ref": "#/components/schemas/Odd"}),
        schemas={
            "Odd": {
                "type": "object",
                "required": ["o"],
                "properties": {"o": {"$ref": "#/components/schemas/Odd"}, **spaced},
            },
            "Deep": {
                "type": "object",
                "properties": {"u": {"anyOf": [{"$ref": "#/components/schemas/Mixed"}]}},
            },
            "Mixed": {"anyOf": [{}, OBJECT, {"$ref": "#/components/schemas/Deep"}]},
        },
    )
    assert files.imported == 1
    assert set(files.files) == {"api.py", "api_schemas/Odd.json"}
    assert "Deep" not in design(files)


def test_an_answer_that_clauses_cannot_say_is_a_schema() -> None:
    two = {"orgRole": {"type": "string"}, "org_role": {"type": "string"}, "name": {"type": "string"}}
    for schema in ({"type": "object", "properties": two}, {"type": "array", "items": {"properties": two}}):
        files = operation({"responses": {"200": answer(schema)}})
        assert files.imported == 1
        assert not [finding for finding in files.findings if not finding.is_warning]


def test_an_error_that_a_design_may_not_hold_costs_no_operation() -> None:
    endless = {"type": "object", "required": ["p"], "properties": {"p": {"$ref": "#/components/schemas/N"}}}
    responses = {
        "200": answer(OBJECT),
        "400": answer({"properties": {"n": {"$ref": "#/components/schemas/N"}}}),
    }
    files = operation({"responses": responses}, schemas={"N": endless})
    assert files.imported == 1
    assert not files.findings
    assert 'd.Error("bad_request"' in design(files)


@pytest.mark.parametrize(
    "schemas",
    [
        {"A": {"$ref": "#/components/schemas/A"}},
        {"A": {"$ref": "#/components/schemas/B"}, "B": {"$ref": "#/components/schemas/A"}},
        {
            "A": {"allOf": [{"$ref": "#/components/schemas/B"}]},
            "B": {"allOf": [{"$ref": "#/components/schemas/A"}]},
        },
        {"A": {"not": {"$ref": "#/components/schemas/A"}}},
    ],
)
def test_a_schema_that_only_leads_back_to_itself_costs_no_operation(schemas: dict[str, object]) -> None:
    reference = {"$ref": "#/components/schemas/A"}
    parameter = {"name": "q", "in": "query", "schema": reference}
    files = operation(
        body(reference) | {"parameters": [parameter], "responses": {"200": answer(reference)}},
        schemas=schemas,
    )
    assert files.imported == 1
    assert all("refers back to this schema" in finding.message for finding in files.findings)


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
@pytest.mark.parametrize(
    ("schema", "type_"),
    [
        ({"type": "integer", "nullable": True}, "d.Int"),
        ({"type": "array", "items": {"type": "integer"}, "nullable": True}, "d.ArrayOf(d.Int)"),
        ({"enum": ["a", None]}, "d.String, None, enum"),
        ({"anyOf": [{"type": "string", "format": "uuid"}, {"type": "null"}]}, "d.Uuid"),
        ({"$ref": "#/components/schemas/Id"}, "d.Uuid"),
        ({"allOf": [{"$ref": "#/components/schemas/Id"}], "nullable": True}, "d.Uuid"),
        ({"$ref": "#/components/schemas/Kind"}, "Kind"),
    ],
)
def test_null_of_a_path_parameter_costs_no_operation(
    schema: dict[str, object], type_: str, version: str
) -> None:
    parameter = {"name": "id", "in": "path", "required": True, "schema": schema}
    files = operation(
        {"parameters": [parameter]},
        version=version,
        path="/x/{id}",
        schemas={
            "Id": {"type": "string", "format": "uuid", "nullable": True},
            "Kind": {"type": "string", "enum": ["a", "b", None], "nullable": True},
        },
    )
    assert files.imported == 1
    assert f'd.Attribute("id", {type_}' in design(files)


def test_parts_of_a_form_that_all_of_joins_are_all_sent() -> None:
    schema = {
        "allOf": [
            {"$ref": "#/components/schemas/Loop"},
            {"$ref": "#/components/schemas/Gone"},
            {"type": "object", "required": ["cover"], "properties": {"cover": FILE}},
        ],
        "properties": {"pages": {"type": "integer"}, "lost": {"$ref": "#/components/schemas/Gone"}},
    }
    files = operation(
        body(schema, "multipart/form-data"),
        schemas={
            "Title": {"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}}},
            "Loop": {
                "allOf": [{"$ref": "#/components/schemas/Title"}, {"$ref": "#/components/schemas/Loop"}]
            },
        },
    )
    assert files.imported == 1
    assert {finding.place.pointer for finding in files.findings} == {
        "/paths/~1x/post/requestBody/content/multipart~1form-data/schema/allOf/1/$ref",
        "/paths/~1x/post/requestBody/content/multipart~1form-data/schema/properties/lost/$ref",
    }
    text = design(files)
    assert 'd.Attribute("lost", ' in text
    assert 'd.Attribute("title", d.String, None, required=True)' in text
    assert 'd.Attribute("cover", d.Bytes, None, required=True)' in text
    assert 'd.Attribute("pages", d.Int, None)' in text
    assert 'http.Body(http.File("cover"))' in text


@pytest.mark.parametrize("schema", ["../secret.json", 5, ["string"]])
@pytest.mark.parametrize("place", ["query", "header", "path"])
def test_a_parameter_without_a_readable_schema_costs_its_schema_only(schema: object, place: str) -> None:
    parameter = {"name": "q", "in": place, "required": place == "path", "schema": schema}
    files = operation({"parameters": [parameter]}, path="/{q}" if place == "path" else "/x")
    assert files.imported == 1
    [finding] = files.findings
    assert finding.code == "import-left-out"
    assert str(finding.place.pointer).endswith("/post/parameters/0/schema")
    assert finding.message.startswith("expected a schema, not a")


@pytest.mark.parametrize("schema", ["../secret.json", 5, ["string"]])
def test_what_is_no_schema_costs_nothing_beside_it(schema: object) -> None:
    properties = {"odd": schema, "fine": {"type": "integer"}}
    held = {"type": "object", "properties": properties}
    for files in (operation(body(held)), operation({"responses": {"200": answer(held)}})):
        assert 'Attribute("fine", d.Int' in design(files)
        [finding] = files.findings
        assert "expected a schema" in finding.message
    for files in (operation(body(schema)), operation({"responses": {"200": answer(schema)}})):
        [finding] = files.findings
        assert "expected a schema" in finding.message


@pytest.mark.parametrize(
    ("path", "sent"),
    [("/a b", "/a%20b"), ("x", "/x"), ("", "/"), ("/ä/{i}", "/%C3%A4/{i}"), ("a\\b", "/a%5Cb")],
)
def test_a_path_with_characters_that_no_address_has_is_sent_encoded(path: str, sent: str) -> None:
    files = operation({}, path=path)
    assert files.imported == 1
    assert f'POST("{sent}")' in design(files)
    assert f"the path {path!r} is sent as {sent!r}" in [finding.message for finding in files.findings]


@pytest.mark.parametrize("path", ["/a/{id", "/{}", "/{id}/{id}", "/../a"])
def test_a_path_that_nobody_can_fill_is_the_fault_of_its_document(path: str) -> None:
    files = operation({}, path=path)
    error = next(finding for finding in files.findings if finding.severity == "error")
    assert error.message.startswith(f"the path {path!r} ")
    assert error.hint == "correct the path"


@pytest.mark.parametrize("value", ["a b", ["y"], {"z": 1}, None, True, "ü"])
def test_a_value_of_a_server_that_no_address_has_costs_nothing_else(value: object) -> None:
    variables = {"a": {"default": "x", "enum": ["x", value, 1]}}
    files = operation({"servers": [{"url": "https://{a}.example", "variables": variables}]})
    assert files.imported == 1
    assert 'Variable("a", "x", "1", default="x")' in design(files)
    [finding] = files.findings
    assert finding.message == f"the address is not valid with {str(value)!r} for {{a}}, which is left out"


def test_a_required_parameter_that_nobody_describes_is_a_text() -> None:
    described: list[dict[str, object]] = [{}, {"schema": {}}, {"schema": {"title": "Q"}}]
    for schema in described:
        files = operation({"parameters": [{"name": "q", "in": "query", "required": True, **schema}]})
        assert 'Attribute("q", d.String' in design(files)
