"""A document at an address: how it is fetched, what is stored of it, and when nothing is fetched."""

from __future__ import annotations

import datetime
import json
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import certifi
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.conftest import ProjectFolder
from tests.conftest import project as project
from tests.importers.recording_api import RecordingAPI, recording
from toolgen.clients.fetching import document_address
from toolgen.contract.errors import ToolgenError

HOST = "api.test"


def document(**operation: Any) -> dict[str, Any]:
    value = {"operationId": "list", "summary": "List books.", **operation}
    return {
        "openapi": "3.1.0",
        "info": {},
        "servers": [{"url": "../v1"}],
        "paths": {"/books": {"get": value}},
    }


def _certificate(folder: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, HOST)])
    start = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(start).not_valid_after(start + datetime.timedelta(days=3))
    names = x509.SubjectAlternativeName([x509.DNSName(HOST)])
    signed = builder.add_extension(names, critical=False).sign(key, hashes.SHA256())
    pem, plain = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    file = folder / "certificate.pem"
    file.write_bytes(key.private_bytes(pem, plain, serialization.NoEncryption()) + signed.public_bytes(pem))
    return file


@pytest.fixture
def tls(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[RecordingAPI]:
    """Give a server whose certificate is trusted, at the name of a host that is resolved to this machine."""
    certificate = _certificate(tmp_path_factory.mktemp("tls"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    monkeypatch.setattr(certifi, "where", lambda: str(certificate))
    original = socket.getaddrinfo

    def resolve(host: Any, *args: Any, **options: Any) -> Any:
        return original("127.0.0.1" if host == HOST else host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with recording(context) as api:
        api.address = f"https://{HOST}:{api.address.rpartition(':')[2]}"
        yield api


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolgen.clients.servers.is_public", lambda address: True)


@pytest.mark.usefixtures("public")
def test_a_document_is_fetched_and_stored_beside_the_lock(project: ProjectFolder, tls: RecordingAPI) -> None:
    tls.answers["GET /docs/library.json"] = 200, document(), {}
    url = f"{tls.address}/docs/library.json"
    done = project.run("import", "openapi", url)
    assert done.code == 0, done.err
    design = (project.path / "library_design.py").read_text("utf-8")
    assert f'http.Server("{tls.address}/v1", accepted=False)' in design
    stored = project.path / "library_design.source.json"
    assert json.loads(stored.read_text("utf-8")) == document()
    lock = json.loads((project.path / "library_design.import.json").read_text("utf-8"))
    assert lock["source"] == url
    [request] = tls.arrived
    assert request.headers["host"] == tls.address.removeprefix("https://")
    assert not {"authorization", "cookie"} & request.headers.keys()


@pytest.mark.usefixtures("public")
def test_a_document_that_is_yaml_now_replaces_the_stored_json(
    project: ProjectFolder, tls: RecordingAPI
) -> None:
    url = f"{tls.address}/library"
    tls.answers["GET /library"] = 200, document(), {}
    assert project.run("import", "openapi", url).code == 0
    tls.answers["GET /library"] = 200, b"# In YAML.\n" + json.dumps(document(summary="All.")).encode(), {}
    assert project.run("import").code == 0
    assert sorted(file.name for file in project.path.glob("*.source.*")) == ["library_design.source.yaml"]
    done = project.run("import", "--check")
    assert done.code == 0, done.err


@pytest.mark.usefixtures("public")
def test_a_check_reads_what_is_stored_and_fetches_nothing(project: ProjectFolder, tls: RecordingAPI) -> None:
    tls.answers["GET /library.json"] = 200, document(), {}
    url = f"{tls.address}/library.json"
    assert project.run("import", "openapi", url).code == 0
    tls.answers["GET /library.json"] = 200, document(summary="List all books."), {}
    for command in (["openapi", url], []):
        done = project.run("import", *command, "--check")
        assert done.code == 0, done.err
        assert f"library_design.py is up to date with the stored document of {url}" in done.err
    assert len(tls.arrived) == 1
    again = project.run("import")
    assert again.code == 0, again.err
    assert "imported 1 tool; 2 changed" in again.err
    assert "List all books." in (project.path / "library_design.source.json").read_text("utf-8")
    assert len(tls.arrived) == 2
    (project.path / "library_design.source.json").unlink()
    missing = project.run("import", "openapi", url, "--check")
    assert missing.code == 2
    assert "library_design.source.json, the document of the last import, is missing" in missing.err
    assert len(tls.arrived) == 2


@pytest.mark.usefixtures("public")
def test_a_document_in_yaml_and_a_swagger_document_say_where_they_are(
    project: ProjectFolder, tls: RecordingAPI
) -> None:
    text = (
        "swagger: '2.0'\nbasePath: /v2\npaths: {/books: {get: {operationId: list, summary: List books.}}}\n"
    )
    tls.answers["GET /openapi"] = 200, text.encode(), {"Content-Type": "application/yaml"}
    done = project.run("import", "openapi", f"{tls.address}/openapi")
    assert done.code == 0, done.err
    design = (project.path / "api_test_design.py").read_text("utf-8")
    assert f'http.Server("{tls.address}/v2", accepted=False)' in design
    assert (project.path / "api_test_design.source.yaml").read_text("utf-8") == text


@pytest.mark.usefixtures("public")
def test_a_redirect_at_the_same_origin_is_followed(project: ProjectFolder, tls: RecordingAPI) -> None:
    tls.answers["GET /latest.json"] = 302, {}, {"Location": "/v3/library.json"}
    tls.answers["GET /v3/library.json"] = 200, document(), {}
    assert project.run("import", "openapi", f"{tls.address}/latest.json").code == 0
    assert [each.target for each in tls.arrived] == ["/latest.json", "/v3/library.json"]


@pytest.mark.usefixtures("public")
@pytest.mark.parametrize(
    ("status", "answer", "headers", "message"),
    [
        (
            302,
            {},
            {"Location": "https://other.test/x.json"},
            "redirects to https://other.test/x.json, which is",
        ),
        (301, {}, {"Location": "http://api.test/x.json"}, "it redirects to http://api.test/x.json, which is"),
        (302, {}, {"Location": "/library.json"}, "it redirects more than 5 times"),
        (302, {}, {"Location": "https://[::1/x.json"}, "it redirects to no address, which is"),
        (302, {}, {"Location": f"/{'x' * 65_537}"}, "which is at another origin or not a valid URL"),
        (401, {}, {}, "it answered with status 401"),
        (200, b"<!DOCTYPE html><html>", {}, "is HTML, not JSON or YAML"),
        (200, b"{", {}, "is not JSON"),
        (200, b'{"openapi": "2.9"}', {}, "says openapi '2.9'"),
        (200, b'{"$ref": "' + b"x" * 21_000_000 + b'"}', {}, "the answer has more than 20000000 bytes"),
    ],
)
def test_what_is_no_document_is_refused(
    project: ProjectFolder,
    tls: RecordingAPI,
    status: int,
    answer: object,
    headers: dict[str, str],
    message: str,
) -> None:
    tls.answers["GET /library.json"] = status, answer, headers
    done = project.run("import", "openapi", f"{tls.address}/library.json")
    assert done.code == 2
    assert message in done.err
    assert sorted(file.name for file in project.path.iterdir() if file.name.startswith("library")) == []


def test_a_private_address_gets_no_request(
    project: ProjectFolder, tls: RecordingAPI, caplog: pytest.LogCaptureFixture
) -> None:
    done = project.run("import", "openapi", f"{tls.address}/library.json")
    assert (done.code, tls.arrived) == (2, [])
    assert "cannot be fetched: it is at an address that is not public" in done.err
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (
            "http://api.test/library.json",
            "http://api.test/library.json is not fetched: only https URLs are allowed",
        ),
        ("https://ann:pw@api.test/library.json", "the address at api.test has a user or a password"),
        ("https://api.test/library.json?api_key=k-1", "has the query parameter 'api_key'"),
        ("https:///library.json", "the source is not an https URL"),
        ("https://[::1/library.json", "the source is not an https URL"),
        ("https://api.test/\x01", "the source is not an https URL"),
        (f"https://api.test/{'x' * 65_537}", "the source is not an https URL"),
    ],
)
def test_an_address_is_of_https_and_has_no_credential(project: ProjectFolder, url: str, message: str) -> None:
    for options in ([], ["--check"]):
        done = project.run("import", "openapi", url, *options)
        assert done.code == 2
        assert message in done.err
        assert "pw" not in done.err
        assert "k-1" not in done.err


@pytest.mark.usefixtures("public")
def test_other_documents_are_not_fetched(project: ProjectFolder, tls: RecordingAPI) -> None:
    reference = {"$ref": "book.json"}
    content = {"application/json": {"schema": reference}}
    value = document(responses={"200": {"description": "It.", "content": content}})
    tls.answers["GET /library.json"] = 200, value, {}
    done = project.run("import", "openapi", f"{tls.address}/library.json", "--allow-losses")
    assert done.code == 0, done.err
    assert "points outside the document" in done.err
    assert len(tls.arrived) == 1


def test_a_host_that_no_resolver_takes_is_named(project: ProjectFolder) -> None:
    done = project.run("import", "openapi", "https://api..test/library.json")
    assert done.code == 2
    assert "cannot be fetched: api..test is not a host name" in done.err


@pytest.mark.parametrize("name", ["pat", "jwt", "code", "st", "PAT", "X-Amz-Signature"])
def test_names_of_a_query_that_look_like_a_credential(name: str) -> None:
    with pytest.raises(ToolgenError, match=f"has the query parameter '{name}'") as raised:
        document_address(f"https://api.test/library.json?{name}=k-1")
    assert "k-1" not in str(raised.value)


def test_other_names_of_a_query_are_none() -> None:
    url = "https://api.test/library.json?path=a&postal_code=1&start=2&state=x&version=3"
    assert document_address(url) == url
