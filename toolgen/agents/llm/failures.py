"""Converts provider failures to planner errors, retryable or not. No message contains a secret."""

from __future__ import annotations

import re
from typing import Final

from pydantic_ai.exceptions import (
    ContentFilterError,
    FallbackExceptionGroup,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelServerError,
    ModelUnavailableError,
    UnexpectedModelBehavior,
    UserError,
)

from ..planner.plan_faults import PlannerError
from ..planner.retrying import PlannerUnavailableError

_SECRET: Final = re.compile(
    r"Bearer\s+\S+|\b(?:sk|pk|rk|gsk|xai|key|AIza)[-_][\w*.-]{6,}|(?<=key)(?:\s+provided)?\s*[:=]\s*\S+",
    re.IGNORECASE,
)
_MOST_CHARACTERS: Final = 400
_PASSING: Final = frozenset({408, 409, 425, 429})
"""HTTP statuses below 500 for temporary failures (RFC 9110, 6585, 8470)."""


_PASSING_ERRORS: Final = (
    ModelConnectionError,
    ModelRateLimitError,
    ModelRequestTimeout,
    ModelServerError,
    ModelUnavailableError,
)
"""Errors without an HTTP status that are temporary failures."""
_KEYS: Final = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "google": "GOOGLE_API_KEY",
}
"""Environment variables with the API keys of providers."""
_MOST_BROKEN: Final = 3
"""Maximum number of attempts at one answer that are billed and then interrupted."""


class ProviderError(PlannerUnavailableError):
    """The provider is temporarily unable to answer; retryable. The message contains no secret."""


def interrupted_error(model: str, why: str) -> ProviderError:
    """Return the error for an answer that was interrupted after it began."""
    return ProviderError(f"{model}: the answer was cut off: {why}", most_attempts=_MOST_BROKEN)


def planner_error(error: Exception, model: str, *, system: str = "", has_begun: bool = False) -> Exception:
    """Return the planner's exception for an error of pydantic-ai; any other error unchanged.

    `system` is pydantic-ai's name of the provider. `has_begun` tells whether a part of the answer was
    received.
    """
    key = _KEYS.get(system, "the variable of the provider")
    match error:
        case FallbackExceptionGroup():
            errors = [
                planner_error(inner, model) for inner in error.exceptions if isinstance(inner, Exception)
            ]
            passing = [inner for inner in errors if not isinstance(inner, PlannerError)]
            return (passing or errors or [error])[0]
        case ModelAuthenticationError():
            return PlannerError(
                f"{model}: the provider refused the credentials{_status(error)}; set a valid key in {key}"
            )
        case ModelQuotaExceededError():
            return PlannerError(f"{model}: the quota or the credit of the account is used up{_status(error)}")
        case ModelContextWindowExceededError():
            return PlannerError(f"{model}: the conversation is longer than the model accepts{_status(error)}")
        case ModelNotFoundError():
            return PlannerError(f"{model}: the provider has no such model{_status(error)}; correct its name")
        case ModelRequestRejectedError():
            return PlannerError(
                f"{model}: the provider refused the request{_status(error)}: {_provider_message(error)}"
            )
        case ModelConnectionError() if has_begun:
            return interrupted_error(model, _provider_message(error))
        case ModelAPIError():
            return _api_error(error, model)
        case ContentFilterError():
            return PlannerError(f"{model}: the provider's content filter stopped the answer")
        case UnexpectedModelBehavior():
            return interrupted_error(model, redact(error.message))
        case UserError():
            return PlannerError(f"{model}: {redact(str(error))}")
        case _:
            return error


def redact(text: str) -> str:
    """Return a provider's text with secrets redacted, truncated to the maximum length of a message."""
    text = _SECRET.sub("[removed]", text)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"


def _api_error(error: ModelAPIError, model: str) -> Exception:
    code = error.status_code if isinstance(error, ModelHTTPError) else None
    if code is None and not isinstance(error, _PASSING_ERRORS):  # for example a body that is not JSON
        return interrupted_error(model, _provider_message(error))
    message = f"{model}: the provider did not answer{_status(error)}: {_provider_message(error)}"
    if code is not None and 400 <= code < 500 and code not in _PASSING:
        return PlannerError(message)
    return ProviderError(message, retry_after=error.retry_after)


def _status(error: ModelAPIError) -> str:
    return f" (HTTP {error.status_code})" if isinstance(error, ModelHTTPError) else ""


def _provider_message(error: ModelAPIError) -> str:
    """Return the provider's error message, or its error code if there is no message."""
    body: object = error.body
    inner = body.get("error", body) if isinstance(body, dict) else None
    words = inner.get("message") if isinstance(inner, dict) else None
    if not isinstance(words, str) or not words:
        words = error.provider_error_code or error.provider_error_type or type(error).__name__
        if not isinstance(error, ModelHTTPError):
            words = error.message or words
    return redact(words)
