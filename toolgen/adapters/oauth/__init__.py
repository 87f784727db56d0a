"""OAuth 2 with Authlib and httpx: service tokens, and the callback of authorizations: `toolgen[http]`."""

from .callback import OAuthCallback
from .tokens import OAuth, OAuthClient

__all__ = ["OAuth", "OAuthCallback", "OAuthClient"]
