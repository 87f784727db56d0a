"""Identifiers of generated code. No other module creates or joins names."""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata
from functools import lru_cache
from typing import Final

TOOL_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
"""Names of toolsets, tools and agents; portable across all model providers up to 64 characters."""
LONGEST_NAME: Final = 64

_LETTER = r"[^\W\dA-Z_]"  # any letter except an ASCII capital
_WORD = re.compile(rf"[A-Z]+(?!{_LETTER})\d*|[A-Z]?{_LETTER}+\d*|\d+")
_PYDANTIC = frozenset(
    "construct copy dict from_orm json parse_file parse_obj parse_raw register schema schema_json "
    "update_forward_refs validate mro result_bounds".split()
)
_ANNOTATIONS = frozenset("bool bytes dt float int list object property str super type".split())
_MODULE_NAMES = frozenset(
    "annotations calls codecs executor registration self specs transforms types".split()
)
CLIENT_NAMES: Final = frozenset(["aclose", "operations", "send", "servers"])
"""Names of `HTTPClient` and `FunctionsClient`, the base classes of generated clients."""
_CONSTANTS = frozenset(["SPECS", "TYPE_CHECKING"])
_BUILTINS = frozenset(name for name in dir(builtins) if name[0].isupper() and not keyword.iskeyword(name))
"""Pydantic would find these if an annotation names a class that is defined further down."""


_MOST_NAMES: Final = 16_384
"""Maximum number of cached names for each function."""


@lru_cache(_MOST_NAMES)
def words(name: str) -> tuple[str, ...]:
    """Return the words of a name: `listDevices`, `list-devices` and `list_devices` give the same."""
    return tuple(word.lower() for word in _WORD.findall(_readable(name)))


def snake(name: str) -> str:
    """Return the module or package name of a design name: `DeviceService` gives `device_service`."""
    return name if TOOL_NAME.fullmatch(name) else "_".join(words(name)) or "_"


@lru_cache(_MOST_NAMES)
def class_name(*names: str) -> str:
    """Return one class name for several names: `list_devices`, `payload` give `ListDevicesPayload`.

    It is ASCII, because a `$ref` is a URI (JSON Schema 2020-12 Core 8.2.3.1); accents are removed.
    """
    joined = "".join(map(_capitalized, names))
    if joined in _BUILTINS:
        return f"{joined}_"
    return f"T{joined}" if joined[0].isdigit() else joined


@lru_cache(_MOST_NAMES)
def field_name(key: str) -> str:
    """Return the attribute of a JSON key; a trailing underscore avoids keywords and pydantic's names."""
    name = key if TOOL_NAME.fullmatch(key) else "_".join(words(key))
    if name[:1].isdigit():
        name = f"field_{name}"
    elif not name.isidentifier():
        name = "field"
    taken = keyword.iskeyword(name) or name in _PYDANTIC or name in _ANNOTATIONS or name.startswith("model_")
    return f"{name}_" if taken else name


def method_name(name: str, *, of_client: bool = False) -> str:
    """Return the executor's or service's method, and the call builder, of a tool or method name.

    `of_client` is for the methods of a service whose clients are generated.
    """
    taken = keyword.iskeyword(name) or name in _MODULE_NAMES or (of_client and name in CLIENT_NAMES)
    return f"{name}_" if taken else name


@lru_cache(_MOST_NAMES)
def constant(*names: str) -> str:
    """Return one constant for several names: `get_user`, `payload` give `GET_USER_PAYLOAD`."""
    name = "_".join(word.upper() for name in names for word in name.split("_") if word)
    return f"{name}_" if name in _CONSTANTS else name


@lru_cache(_MOST_NAMES)
def module_name(name: str) -> str:
    """Return the package or module of a service or toolset."""
    name = snake(name)
    taken = keyword.iskeyword(name) or name == "annotations"  # would shadow the import from __future__
    return f"{name}_" if taken else name


@lru_cache(_MOST_NAMES)
def title(name: str) -> str:
    """Return the title of a name: `list_devices` gives `List devices`."""
    text = name.replace("_", " ").replace("-", " ").strip()
    return text[:1].upper() + text[1:]


def type_title(name: str) -> str:
    """Return the title of a type: `TimeSeries` gives `Time series`, `HTTPServer` gives `HTTP server`."""
    words_in_name = _WORD.findall(_readable(name))
    text = " ".join(word if word.isupper() else word.lower() for word in words_in_name) or name
    return text[:1].upper() + text[1:]


def setter_name(key: str) -> str:
    return f"set_{field_name(key).rstrip('_')}"


def completion_functions(completion: str) -> tuple[str, str]:
    """Return the names of the functions that request a completion: the complete text, and streamed."""
    return f"complete_{completion}", f"stream_{completion}"


@lru_cache(_MOST_NAMES)
def _capitalized(name: str) -> str:
    """Return the words of a name joined, with the capitals inside them preserved (`HTTPServer` stays)."""
    if not name.isascii():
        decomposed = unicodedata.normalize("NFKD", name)
        name = "".join(char for char in decomposed if not unicodedata.combining(char))
    return "".join(word[0].upper() + word[1:] for word in re.findall("[A-Za-z0-9]+", name) or ["Field"])


def _readable(name: str) -> str:
    """Return the name as Python reads identifiers (PEP 3131: NFKC), without characters that none can have."""
    normal = unicodedata.normalize("NFKC", name)
    return "".join(char if f"x{char}".isidentifier() else " " for char in normal)
