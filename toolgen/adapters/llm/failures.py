"""What a provider's failure means for a run: another attempt, or none. No message holds a secret."""

from __future__ import annotations

import re
from typing import Any, Final

from pydantic_ai.exceptions import (
    ContentFilterError,
    FallbackExceptionGroup,
    ModelAPIError,
    ModelAuthenticationError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRequestRejectedError,
    UserError,
)

from toolgen.runtime.agents import PlannerError

_SECRET: Final = re.compile(
    r"Bearer\s+\S+|\b(?:sk|pk|rk|gsk|xai|key|AIza)[-_][\w*.-]{6,}|(?<=key)(?:\s+provided)?\s*[:=]\s*\S+",
    re.IGNORECASE,
)
_MOST_CHARACTERS: Final = 400
_PASSING: Final = frozenset({408, 409, 425, 429})
"""HTTP statuses below 500 that another attempt may not get (RFC 9110, 6585, 8470)."""


class ProviderError(Exception):
    """The provider gives no answer now; another attempt may get one."""

    is_told = True
    """Its words hold no secret, so that a run may be told them."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds that the provider wants to be left alone; None where it does not say."""


def failure(error: Exception, model: str) -> Exception:
    """Return what a planner raises for an error of pydantic-ai; what is none of its errors as it is."""
    match error:
        case FallbackExceptionGroup():
            found = [failure(one, model) for one in error.exceptions if isinstance(one, Exception)]
            passing = [one for one in found if not isinstance(one, PlannerError)]
            return (passing or found or [error])[0]
        case ModelAuthenticationError():
            return PlannerError(f"{model}: the provider refused the credentials{_status(error)}")
        case ModelQuotaExceededError():
            return PlannerError(f"{model}: the quota or the credit of the account is used up{_status(error)}")
        case ModelContextWindowExceededError():
            return PlannerError(f"{model}: the conversation is longer than the model takes{_status(error)}")
        case ModelNotFoundError():
            return PlannerError(f"{model}: the provider has no such model{_status(error)}")
        case ModelRequestRejectedError():
            return PlannerError(f"{model}: the provider refused the request{_status(error)}: {_said(error)}")
        case ModelAPIError():
            return _other(error, model)
        case ContentFilterError():
            return PlannerError(f"{model}: the provider's content filter stopped the answer")
        case UserError():
            return PlannerError(f"{model}: {clean(str(error))}")
        case _:
            return error


def clean(text: str) -> str:
    """Return a provider's text without what looks like a key, and not longer than a message should be."""
    text = _SECRET.sub("[removed]", text)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"


def _other(error: ModelAPIError, model: str) -> Exception:
    message = f"{model}: the provider did not answer{_status(error)}: {_said(error)}"
    code = error.status_code if isinstance(error, ModelHTTPError) else None
    if code is not None and 400 <= code < 500 and code not in _PASSING:
        return PlannerError(message)
    return ProviderError(message, retry_after=error.retry_after)


def _status(error: ModelAPIError) -> str:
    return f" (HTTP {error.status_code})" if isinstance(error, ModelHTTPError) else ""


def _said(error: ModelAPIError) -> str:
    """Return the provider's own words; its code where there are none."""
    body: Any = error.body
    inner = body.get("error", body) if isinstance(body, dict) else None
    words = inner.get("message") if isinstance(inner, dict) else None
    if not isinstance(words, str) or not words:
        words = error.provider_error_code or error.provider_error_type or type(error).__name__
        if not isinstance(error, ModelHTTPError):
            words = error.message or words
    return clean(words)
