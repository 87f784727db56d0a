"""Creates the codecs of a generated module; generated code begins with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolgen.catalog.schema_file import SchemaFile
from toolgen.contract.names import CATALOG

from .codec import CheckedCodec, Codec

if TYPE_CHECKING:
    from .functions.foreign_codec import SchemaCodec


class CodecModule:
    """Creates the codecs for the types of one module, without importing the module.

    Their schemas are in the catalog `file` of the package.
    """

    def __init__(self, package: str | None, module: str, file: str = CATALOG) -> None:
        self._package = package
        self._module = module
        self._schemas = SchemaFile(package or "", file)

    def __call__(self, name: str, *, is_exact: bool = True, sensitive: tuple[str, ...] = ()) -> Codec:
        """Return the codec of a designed class; not exact if a third-party value in it is not exact."""
        make: type[Codec] = Codec if is_exact else CheckedCodec
        return make(self._package, self._module, name, self._schemas, sensitive=sensitive)

    def foreign(self, name: str, *, is_exact: bool = True) -> SchemaCodec[Any]:
        """Return the codec of a third-party schema."""
        from .functions.foreign_codec import SchemaCodec  # most designs have no third-party schemas

        return SchemaCodec(self._package, self._module, name, self._schemas, is_exact=is_exact)
