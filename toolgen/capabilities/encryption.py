"""Documents encrypted with a secret of the host: AES-256-GCM, under keys derived by HKDF (RFC 5869)."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_SHORTEST: Final = 16
"""Minimum number of bytes of a secret."""
_NONCE: Final = 12
"""Number of bytes of a GCM nonce (NIST SP 800-38D, section 8.2)."""


class OtherSecretError(Exception):
    """A document was encrypted with a secret that was not passed."""


class ChangedDocumentError(Exception):
    """A document was changed, or moved from another place."""


class Cipher:
    """Encrypts with the first secret of a host, and decrypts with any of its secrets."""

    def __init__(self, secret: bytes | Sequence[bytes]) -> None:
        """Create a cipher.

        Raises:
            ValueError: There is no secret, or one has fewer than 16 bytes.
        """
        all_secrets = [secret] if isinstance(secret, bytes) else list(secret)
        if not all_secrets or min(map(len, all_secrets)) < _SHORTEST:
            raise ValueError(f"a secret must have at least {_SHORTEST} bytes from a random source")
        self._keys = {_id_of(key): AESGCM(_derived(key)) for key in all_secrets}
        self._newest = next(iter(self._keys))

    def encrypt(self, document: bytes, place: bytes) -> tuple[str, bytes]:
        """Return the id of the key and the encrypted document, which is valid only at this place."""
        nonce = secrets.token_bytes(_NONCE)
        return self._newest, nonce + self._keys[self._newest].encrypt(nonce, document, place)

    def decrypt(self, key_id: str, encrypted: bytes, place: bytes) -> bytes:
        """Return the decrypted document.

        Raises:
            OtherSecretError: The document was encrypted with a secret that was not passed.
            ChangedDocumentError: The document was changed, or moved from another place.
        """
        key = self._keys.get(key_id)
        if key is None:
            raise OtherSecretError
        try:
            return key.decrypt(encrypted[:_NONCE], encrypted[_NONCE:], place)
        except (InvalidTag, ValueError):
            raise ChangedDocumentError from None


def _id_of(secret: bytes) -> str:
    """Return the id for the key of a secret, which reveals nothing about it."""
    return hashlib.sha256(b"toolgen credentials key id:" + _derived(secret)).hexdigest()[:16]


def _derived(secret: bytes) -> bytes:
    return HKDF(SHA256(), 32, salt=None, info=b"toolgen credentials").derive(secret)
