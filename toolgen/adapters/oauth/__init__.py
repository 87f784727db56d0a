"""OAuth 2 by Authlib and httpx: tokens of services, and the callback of authorizations: `toolgen[http]`."""

from .callback import OAuthCallback
from .tokens import OAuth, OAuthClient

__all__ = ["OAuth", "OAuthCallback", "OAuthClient"]
