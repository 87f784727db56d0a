"""Activities that only read and write stores: they wait while a store is unavailable."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from toolgen.calls.steps.failures import log
from toolgen.contract.json_value import Json
from toolgen.engines import ActivityInfo, NonRetryableError
from toolgen.stores import StoreError

from ..host import AgentHost


class StoreUnavailableError(NonRetryableError):
    """A store was unavailable for the whole waiting time; the message contains no server or file name."""


def waiting_for_stores(
    host: AgentHost, activity: Callable[[ActivityInfo, object], Awaitable[Json]]
) -> Callable[[ActivityInfo, Any], Awaitable[Json]]:
    """Return an activity that retries an idempotent activity while a store is unavailable.

    It raises `StoreUnavailableError` when the time is over, and for other store errors.
    """

    async def perform(info: ActivityInfo, argument: object) -> Json:
        what = f"run {info.run_id}: {info.op}"
        try:
            return await host.store_retry.run(partial(activity, info, argument), what, is_idempotent=True)
        except StoreError as error:
            log.error("%s failed", what, exc_info=error)
            raise StoreUnavailableError(error.public_text) from error

    return perform
