"""Makes the codecs of a generated module; generated code begins with it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from toolgen.catalog.schema_file import SchemaFile, Schemas
from toolgen.contract.names import CATALOG

from .codec import CheckedCodec, Codec

if TYPE_CHECKING:
    from .foreign_codec import SchemaCodec


class CodecModule:
    """Makes the codecs of the types of one module, which it does not import.

    Their schemas are those of the catalogue `file` of the package.
    """

    def __init__(self, package: str | None, module: str, file: str = CATALOG) -> None:
        self._package = package
        self._module = module
        self._schemas = SchemaFile(package or "", file)

    def __call__(self, name: str, *, is_exact: bool = True, sensitive: tuple[str, ...] = ()) -> Codec[Any]:
        """Return the codec of a designed class; not exact when a foreign value in it is not.

        Code of format 1 gives the schema itself, whose title is the name.
        """
        make: type[Codec[Any]] = Codec if is_exact else CheckedCodec
        if name.startswith("{"):
            title = str(json.loads(name)["title"])
            return make(self._package, self._module, title, {title: name})
        return make(self._package, self._module, name, self._schemas, sensitive=sensitive)

    def foreign(self, name: str, name_1: str | None = None, /, *, is_exact: bool = True) -> SchemaCodec[Any]:
        """Return the codec of a schema that somebody else wrote.

        Code of format 1 gives the schema itself, and then the name.
        """
        from .foreign_codec import SchemaCodec  # most designs have none

        schemas: Schemas = self._schemas if name_1 is None else {name_1: name}
        return SchemaCodec(self._package, self._module, name_1 or name, schemas, is_exact=is_exact)
