"""Base classes of generated service clients, for HTTP APIs and for Python functions."""

from typing import TYPE_CHECKING

from toolgen.calls.errors import UnfitAnswerError
from toolgen.calls.results import Received
from toolgen.contract.lazy import lazy_exports
from toolgen.contract.transport import (
    HTTP,
    Body,
    Function,
    OAuthFlow,
    Paging,
    Parameter,
    Requirement,
    Response,
    SecurityScheme,
    Server,
    Variable,
)

from .call import answered, calling
from .operation import Operation

if TYPE_CHECKING:
    from .functions import FunctionsClient
    from .http_client import HTTPClient

__all__ = [
    "HTTP",
    "Body",
    "Function",
    "FunctionsClient",
    "HTTPClient",
    "OAuthFlow",
    "Operation",
    "Paging",
    "Parameter",
    "Received",
    "Requirement",
    "Response",
    "SecurityScheme",
    "Server",
    "UnfitAnswerError",
    "Variable",
    "answered",
    "calling",
]

_LAZY = {".functions": "FunctionsClient", ".http_client": "HTTPClient"}

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _LAZY)
