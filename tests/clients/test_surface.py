"""What `toolgen.clients` loads, and what it says where httpx is not installed."""

from __future__ import annotations

import subprocess
import sys

WITHOUT = """
import sys
sys.modules["httpx"] = None
from toolgen.clients import FunctionsClient, Operation, calling
try:
    from toolgen.clients import HTTPClient
except Exception as error:
    print(type(error).__name__, error)
"""
LOADED = """
import sys
import toolgen.clients
print("httpx" in sys.modules, "toolgen.clients.http_client" in sys.modules)
"""


def printed(code: str) -> str:
    return subprocess.check_output([sys.executable, "-c", code], text=True).strip()


def test_a_missing_package_names_its_extra() -> None:
    assert printed(WITHOUT).splitlines() == [
        "ToolgenError the package 'httpx' is not installed",
        "  hint: pip install 'toolgen[http]'",
    ]


def test_httpx_is_imported_where_a_client_is() -> None:
    assert printed(LOADED) == "False False"
