"""Installation in a company's network, whose certificate authority only the system's store has.

The index is served over TLS on this machine, with packages of this environment. The store is replaced in a
mount namespace, so the machine keeps its own.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import ssl
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import distribution
from pathlib import Path
from threading import Thread
from typing import Any, Final

import pytest

from toolgen.cli import main

ROOT: Final = Path(__file__).parents[2]
STORE: Final = "/etc/ssl/certs"
PACKAGES: Final = ("uv", "hatchling", "editables", "packaging", "pathspec", "pluggy", "trove-classifiers")
"""uv, and what builds a package."""
PYPROJECT: Final = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "toolgen"
version = "0"

[tool.hatch.build.targets.wheel]
packages = ["toolgen"]
"""
KEY: Final = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2".split()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


@dataclass(slots=True, frozen=True)
class Company:
    """A certificate authority, an index whose certificate it signed, and a store with nothing but its own."""

    store: Path
    index: Path
    url: str
    home: Path

    def make(
        self, folder: Path, target: str, settings: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Make a target where the store is that of the system, with no other settings than these."""
        environment = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_INDEX_URL": f"{self.url}/simple",
            "PIP_NO_CACHE_DIR": "1",
            "UV_DEFAULT_INDEX": f"{self.url}/simple",
            "UV_HTTP_RETRIES": "0",
            "UV_NO_CACHE": "1",
            "UV_NO_CONFIG": "1",
            "npm_config_fetch_retries": "0",
            **settings,
        }
        rights = [] if os.geteuid() == 0 else ["--map-root-user"]
        mounted = 'mount --bind "$0" "$1" && exec make "$2"'
        return subprocess.run(
            ["unshare", "--mount", *rights, "sh", "-c", mounted, self.store, STORE, target],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
        )

    def wheel(self, name: str) -> str:
        """Put the wheel of a package of this environment into the index; return its line of a lock file."""
        package = distribution(name)
        information = (package.read_text("WHEEL") or "").splitlines()
        tag = next(line.removeprefix("Tag: ") for line in information if line.startswith("Tag: "))
        stem = f"{name.replace('-', '_')}-{package.version}"
        folder = self.index / "simple" / name
        folder.mkdir(parents=True)
        wheel = folder / f"{stem}-{tag}.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            for file in package.files or ():
                place = f"{stem}.data/scripts/{file.name}" if ".." in file.parts else file.as_posix()
                if "__pycache__" not in file.parts and file.name != "RECORD":
                    archive.write(file.locate(), place)
            archive.writestr(f"{stem}.dist-info/RECORD", "")
        (folder / "index.html").write_text(f'<a href="{wheel.name}">{wheel.name}</a>', "utf-8")
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        return f"{name}=={package.version} \\\n    --hash=sha256:{digest}\n"


def openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Company]:
    folder = tmp_path_factory.mktemp("company")
    for name in ("store", "index", "home"):
        (folder / name).mkdir()
    bundle = "store/ca-certificates.crt"
    openssl(folder, "req", "-x509", *KEY, "-subj", "/CN=Company", "-keyout", "company.key", "-out", bundle)
    signed = f"-x509 -CA {bundle} -CAkey company.key -subj /CN=localhost".split()
    usage = "-addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE".split()
    openssl(folder, "req", *signed, *usage, *KEY, "-keyout", "server.key", "-out", "server.crt")
    shutil.copy(folder / bundle, folder / "store/company.pem")
    openssl(folder, "rehash", "store")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder / "index"))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(folder / "server.crt", folder / "server.key")
    server.socket = tls.wrap_socket(server.socket, server_side=True)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    url = f"https://localhost:{server.server_port}"
    yield Company(store=folder / "store", index=folder / "index", url=url, home=folder / "home")
    server.shutdown()
    server.server_close()
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def lines(company: Company) -> Mapping[str, str]:
    return {name: company.wheel(name) for name in PACKAGES}


def test_the_environment_of_the_repository_is_installed(
    company: Company, lines: Mapping[str, str], tmp_path: Path
) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "requirements-dev.lock").write_text("".join(lines.values()), "utf-8")
    (tmp_path / "pyproject.toml").write_text(PYPROJECT, "utf-8")
    (tmp_path / "toolgen").mkdir()
    (tmp_path / "toolgen/__init__.py").touch()
    for setting in ("UV_SYSTEM_CERTS", "UV_NATIVE_TLS"):
        refused = company.make(tmp_path, ".venv/ready", {setting: "0"})
        assert refused.returncode == 2
        assert "invalid peer certificate: UnknownIssuer" in refused.stderr
    made = company.make(tmp_path, ".venv/ready", {})
    assert made.returncode == 0, made.stderr
    assert (tmp_path / ".venv/ready").exists()
    shutil.rmtree(tmp_path / ".venv")


def test_the_packages_of_the_page_are_installed(company: Company, tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package/package.json").write_text('{"name": "tiny", "version": "1.0.0"}', "utf-8")
    archive = company.index / "tiny-1.0.0.tgz"
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(tmp_path / "package", "package")
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    page = {"name": "page", "version": "1.0.0", "dependencies": {"tiny": "1.0.0"}}
    tiny = {
        "version": "1.0.0",
        "resolved": f"{company.url}/{archive.name}",
        "integrity": f"sha512-{digest}",
    }
    lock = {**page, "lockfileVersion": 3, "packages": {"": page, "node_modules/tiny": tiny}}
    (tmp_path / "ui").mkdir()
    (tmp_path / "ui/package.json").write_text(json.dumps(page), "utf-8")
    (tmp_path / "ui/package-lock.json").write_text(json.dumps(lock), "utf-8")

    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("requirements-dev.lock", "pyproject.toml"):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, 0))  # older than the environment, which is there already
    (tmp_path / ".venv").symlink_to(ROOT / ".venv")
    refused = company.make(tmp_path, "ui/node_modules/ready", {"NODE_USE_SYSTEM_CA": "0"})
    assert refused.returncode == 2
    assert "UNABLE_TO_VERIFY_LEAF_SIGNATURE" in refused.stderr
    made = company.make(tmp_path, "ui/node_modules/ready", {})
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "ui/node_modules/tiny/package.json").exists()


def test_a_new_project_is_installed(
    company: Company, lines: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its Makefile installs with pip, which uses the system's store by itself only since version 24.2."""
    monkeypatch.chdir(tmp_path)
    assert main(["init", "shop"]) == 0
    (tmp_path / "shop/requirements.txt").write_text(lines["editables"], "utf-8")
    made = company.make(tmp_path / "shop", ".venv/ready", {})
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "shop/.venv/ready").exists()
    shutil.rmtree(tmp_path / "shop/.venv")
