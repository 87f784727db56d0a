"""OpenAPI documents as a whole: the part that is imported, their servers, and their YAML."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.importers.operations import LIBRARY, design, operation, yaml_files
from toolgen.contract.errors import ToolgenError
from toolgen.importers.openapi import OpenAPIOptions, openapi_files
from toolgen.importers.openapi_operations import Selection
from toolgen.importers.openapi_servers import ServerOptions
from toolgen.importers.text import SourceDocument, read_document


@pytest.mark.parametrize(
    ("selection", "tools"),
    [
        (Selection(tags=("Read books",)), ["get_book"]),
        (Selection(only=("get*",)), ["get_book"]),
        (Selection(exclude=("*Book",)), ["delete_books_id"]),
        (Selection(is_read_only=True), ["get_book"]),
        (Selection(only=("getBook",), renamed={"getBook": "read"}), ["read"]),
    ],
)
def test_a_part_of_a_document_is_imported(tmp_path: Path, selection: Selection, tools: list[str]) -> None:
    files = yaml_files(tmp_path, LIBRARY, OpenAPIOptions(selection=selection))
    assert files.imported == len(tools)
    assert all(f'd.Tool("{name}"' in design(files) for name in tools)


@pytest.mark.parametrize(
    ("options", "clause"),
    [
        (ServerOptions(is_accepted=True), 'default="bonn"))'),
        (ServerOptions(url="http://localhost:8000"), 'http.Server("http://localhost:8000")'),
    ],
)
def test_servers_are_accepted_or_others(tmp_path: Path, options: ServerOptions, clause: str) -> None:
    text = design(yaml_files(tmp_path, LIBRARY, OpenAPIOptions(servers=options)))
    assert clause in text
    assert "accepted=False" not in text


def test_a_server_of_one_operation_is_named_with_it_and_without_its_password() -> None:
    files = operation({"servers": [{"url": "http://ann:secret@books.example"}]})
    [finding] = files.findings
    assert (finding.code, finding.tool) == ("import-no-server", "x")
    assert finding.message.endswith("'http://…@books.example'")
    assert 'http.Server("/")' in design(files)


@pytest.mark.parametrize(
    ("servers", "clause"),
    [
        (None, 'http.Server("/")'),
        ([{"url": ""}], 'http.Server("/")'),
        ([{"url": "./api/v2/"}], 'http.Server("/api/v2")'),
        (
            [{"url": "/{v}", "variables": {"v": {"default": "v1"}}}],
            'http.Server("/{v}", http.Variable("v", default="v1"))',
        ),
        ([{"url": "//books.example/v1"}], 'http.Server("/")'),
        ([{"url": "/v1?key=1"}], 'http.Server("/")'),
        (
            [{"url": "/v1"}, {"url": "https://books.example"}],
            'http.Server("https://books.example", accepted=False)',
        ),
    ],
)
def test_a_server_without_a_host_keeps_its_path(servers: object, clause: str) -> None:
    value = {
        "openapi": "3.1.0",
        "servers": servers,
        "paths": {"/x": {"get": {"operationId": "x", "summary": "Do x."}}},
    }
    files = openapi_files(SourceDocument(name="api", value=value), name="api", service="api")
    assert clause in " ".join(design(files).split())


def test_an_option_that_fits_no_operation_is_warned_of(tmp_path: Path) -> None:
    selection = Selection(
        tags=("Read books", "Raed books"), only=("get*", "getBok"), exclude=("x*",), renamed={"putBok": "put"}
    )
    files = yaml_files(tmp_path, LIBRARY, OpenAPIOptions(selection=selection))
    assert files.imported == 1
    unmatched = [finding for finding in files.findings if finding.code == "import-no-match"]
    assert [(finding.message, finding.hint) for finding in unmatched] == [
        ("--tag 'Raed books' matches no operation", "did you mean Read books?"),
        ("--only 'getBok' matches no operation", "did you mean getBook?"),
        (
            "--exclude 'x*' matches no operation",
            "ids of the document: delete_books_id, getBook, get_book, putBook, put_book",
        ),
        ("--rename 'putBok' matches no operation", "did you mean putBook?"),
    ]


def test_a_document_without_an_absolute_server_asks_for_one(tmp_path: Path) -> None:
    text = LIBRARY.replace("https://{city}.books.example/v1/", "/v1")
    files = yaml_files(tmp_path, text)
    assert files.imported == 3
    assert 'http.Server("/v1")' in design(files)
    [finding] = [each for each in files.findings if each.code == "import-no-server"]
    assert finding.is_warning
    assert finding.message.endswith("absolute server address, only '/v1'")
    assert (
        finding.hint == 'pass --server https://…, or write the address into http.Server("/v1") of the design'
    )
    options = OpenAPIOptions(servers=ServerOptions(url="https://books.example"))
    assert 'http.Server("https://books.example/v1")' in design(yaml_files(tmp_path, text, options))


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"swagger": "1.2"}, r"Swagger '1\.2'; toolgen reads Swagger 2\.0 and OpenAPI 3"),
        ({"openapi": 3.1}, "says openapi 3.1"),
        ({"paths": {}}, "has no 'openapi'"),
        ([], "is a list, not an OpenAPI document"),
    ],
)
def test_other_documents_are_refused(document: object, message: str) -> None:
    with pytest.raises(ToolgenError, match=message):
        openapi_files(SourceDocument(name="api", value=document), name="api", service="api")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "is not YAML: did not find expected node content at line 2"),
        ("a: 1\nb: 2\na: 3", "the key 'a' appears twice at line 3, column 1"),
        ("a: *b", "is not YAML: found undefined alias 'b' at line 1, column 4"),
        ("a: &a [*a]", "nested more than 100 levels deep"),
        ("--- 1\n--- 2\n", "found another document at line 2, column 1"),
        ("[" * 200_000, "nested more than 100 levels deep"),
        ("? [a]\n: 1", "a key is not a string"),
        ("a: \x01", "is not YAML"),
    ],
)
def test_yaml_that_cannot_be_read_is_refused_with_the_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ToolgenError, match=message):
        yaml_files(tmp_path, text)


def test_aliases_that_multiply_are_refused(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    with pytest.raises(ToolgenError, match="its aliases expand to more than 2,000,000 values"):
        yaml_files(tmp_path, "\n".join(lines))


def test_aliases_do_not_hide_depth(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 200))]
    with pytest.raises(ToolgenError, match="nested more than 100 levels deep"):
        yaml_files(tmp_path, "\n".join(lines))


def test_yaml_has_the_values_of_json(tmp_path: Path) -> None:
    file = tmp_path / "values.yml"
    file.write_text("[no, 2020-01-01, 0x1F, 1e3, 'true', true, ~, '', !!str 1, 012, 1_000, .5]", "utf-8")
    assert read_document(file, yaml=True).value == [
        "no", "2020-01-01", 31, 1000.0, "true", True, None, "", "1", 12, "1_000", 0.5
    ]  # fmt: skip


def test_an_anchor_may_be_used_again(tmp_path: Path) -> None:
    file = tmp_path / "anchors.yaml"
    file.write_text("[&a 1, *a, &a [2], *a]", "utf-8")
    assert read_document(file, yaml=True).value == [1, 1, [2], [2]]


def test_merge_keys_bring_in_what_they_name(tmp_path: Path) -> None:
    file = tmp_path / "merged.yaml"
    file.write_text(
        "base: &base {a: 1, b: 1}\nmore: &more {b: 2, c: 2}\nx: {<<: [*base, *more], a: 3}", "utf-8"
    )
    value = read_document(file, yaml=True).value
    assert isinstance(value, dict)
    assert value["x"] == {"a": 3, "b": 1, "c": 2}
