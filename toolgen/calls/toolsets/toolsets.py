"""All toolsets of a runtime: opened, listed for each request, closed."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from toolgen.contract.boundary import Contained, name_of, run_in_task
from toolgen.contract.errors import ToolgenError
from toolgen.contract.logs import logger
from toolgen.contract.record import frozen_record

from ..capability import state_reader
from ..errors import RegistrationError
from ..reports import SILENT, CallReports
from .dynamic import (
    DynamicToolset,
    OnError,
    ReadonlyContext,
    SnapshotError,
    ToolList,
    as_toolset,
    list_tools,
    resource_of,
    tool_ids_of,
)
from .resources import ManagedResource, ResourceStack

if TYPE_CHECKING:
    from toolgen.contract.json_value import Json

    from ..call import CallMeta
    from ..capability import ReadState
    from ..steps.registered_tool import RuntimeOptions
    from .registration import ToolsetRegistration
    from .snapshot import CallService, Snapshot

_MOST_STALE: Final = 1_000
"""Maximum number of sessions with a stored list, for each toolset with `on_error="stale"`."""

_MOST_LOGGED: Final = 10_000
"""Maximum number of omitted tools that are remembered as logged."""
_MOST_AT_ONCE: Final = 100
"""Maximum number of left-out tools per list that are logged by name; the others are only counted."""

log = logger("toolgen.runtime")


@frozen_record
class _DynamicToolsetState:
    """A dynamic toolset, with its time limit, last list and resource."""

    toolset: DynamicToolset
    on_error: OnError
    timeout: float
    owned: ManagedResource | None
    last: OrderedDict[str, ToolList]
    """Last list by session, newest last; used only for the same session."""


class Toolsets:
    """The toolsets of a runtime: opens and closes the dynamic ones, and lists all of them for a request."""

    def __init__(
        self,
        caller: CallService,
        options: RuntimeOptions,
        reports: CallReports = SILENT,
        managers: ResourceStack | None = None,
    ) -> None:
        """Construct without toolsets; the caller executes the calls of snapshots.

        `reports` receives the toolsets that are left out of a request. Toolsets with the same managers are
        opened and closed together.
        """
        self._caller = caller
        self._options = options
        self._reports = reports
        self._static: list[ToolList] = []
        self._named: tuple[ToolList, ...] | None = None
        """The static toolsets with unique wire names; None until they are listed."""
        self._last: Snapshot | None = None
        """The latest snapshot of only the static toolsets."""
        self._added: dict[str, _DynamicToolsetState] = {}
        self._logged: set[tuple[str, str]] = set()
        """IDs of tools that were left out, with the logged reasons."""
        self._listeners: list[Callable[[], None]] = []
        self.managers = managers or ResourceStack()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the static toolsets, then of the dynamic ones, in the order in which they were added."""
        return (*(listed.toolset for listed in self._static), *self._added)

    @property
    def is_dynamic(self) -> bool:
        """Whether any toolset lists its tools for each request."""
        return bool(self._added)

    @property
    def may_change(self) -> bool:
        """Whether another snapshot can list other tools."""
        return self.is_dynamic or self._options.list_disabled is not None

    def add_static(self, toolset: ToolList) -> None:
        """Add a toolset that `Runtime.tools.register` prepared."""
        self._static.append(toolset)
        self._named = None
        self._notify()

    def add(
        self, toolset: DynamicToolset | ToolsetRegistration, on_error: OnError = "fail", timeout: float = 30.0
    ) -> None:
        """Add a dynamic toolset; the timeout in seconds applies to opening it and to each list.

        Raises:
            RegistrationError: it is not a toolset, or another toolset has its name.
        """
        dynamic = as_toolset(toolset)
        name = dynamic.name
        if name in self.names:
            raise RegistrationError(f"toolset {name!r} is registered already")
        manager = resource_of(dynamic)
        owned = self.managers.resource_for(name, manager) if manager is not None else None
        ids = tool_ids_of(dynamic)
        if ids is None:
            self._options.hook_tools.add_silent(name)
        else:
            self._options.hook_tools.add(ids)
        self._added[name] = _DynamicToolsetState(
            toolset=dynamic, on_error=on_error, timeout=timeout, owned=owned, last=OrderedDict()
        )
        self._notify()

    @contextmanager
    def subscribed(self, listener: Callable[[], None]) -> Iterator[None]:
        """Call the listener when a toolset is added, while the context is active."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    def _notify(self) -> None:
        for listener in self._listeners:
            listener()

    async def open(self) -> None:
        """Open the toolsets in the order in which they were added.

        Raises:
            SnapshotError: a toolset with `on_error="fail"` does not open; the toolsets before it are closed
                again.
        """
        self.managers.is_open = True
        for added in self._added.values():
            try:
                with Contained():
                    async with asyncio.timeout(added.timeout):
                        await _opened(added)
            except Exception as error:
                if added.on_error == "fail":
                    await self.close()
                    raise _failed_list(added, "open", error) from error
                _log_failure(logging.ERROR, f"toolset {added.toolset.name} failed to open", error)
            except BaseException:
                await self.close()
                raise

    async def close(self) -> None:
        """Close the toolsets in reverse order; errors are logged."""
        await self.managers.close()

    async def snapshot(self, context: ReadonlyContext, previous: Snapshot | None = None) -> Snapshot:
        """Return the tools of one request; `previous` is the snapshot of the run's previous request.

        Raises:
            SnapshotError: a toolset cannot list its tools and its policy makes this an error, two of the
                host's own tools have the same name, or a hook names a tool that its toolset does not list.
        """
        if self._named is None:
            from .dynamic import with_own_names

            self._named = with_own_names(self._static, self._options)
        lists: Sequence[ToolList] = self._named
        if self._added:
            from .dynamic import without_clashes

            lists = [*lists, *await self._dynamic(context)]
            self._require_hooked([listed for listed in lists if not listed.is_foreign])
            lists = without_clashes(lists)
            self._log_left_out(lists)
        list_disabled = self._options.list_disabled
        disabled = {} if list_disabled is None else await list_disabled()
        if self._last is not None and self._last.fits(lists, disabled, previous):
            return self._last
        from .snapshot import Snapshot

        former = previous.directory.names if previous is not None else ()
        snapshot = Snapshot(self._caller, lists, former, disabled=disabled.keys())
        for name, reason in snapshot.dropped.items():
            self._reports.emit_toolset_dropped(name, reason, context.meta)
        if lists is self._named and not former:
            self._last = snapshot
        return snapshot

    async def _dynamic(self, context: ReadonlyContext) -> list[ToolList]:
        """Return the lists of the dynamic toolsets, in the order in which they were added.

        Raises:
            SnapshotError: as `snapshot`.
        """
        try:
            context = await self._with_state(context)
        except Exception as error:  # noqa: BLE001 - the author's store; the policy of each toolset decides
            return [self._list_after_failure(added, context, error) for added in self._added.values()]
        lists: list[ToolList] = []
        listing = (self._listed(added, context) for added in self._added.values())
        for listed in await asyncio.gather(*listing, return_exceptions=True):
            if isinstance(listed, BaseException):
                raise listed
            lists.append(listed)
        return lists

    async def _with_state(self, context: ReadonlyContext) -> ReadonlyContext:
        """Return the context with the state that the host's capability can read.

        Raises:
            Exception: an exception of the capability, or a timeout.
        """
        read_state = state_reader(self._options.capabilities)
        if read_state is None:
            return context
        deadline = _deadline_in(min(added.timeout for added in self._added.values()))
        work = _read_state(read_state, context.meta)
        items = await run_in_task(work, name="reading the state", deadline=deadline)
        return replace(context, state={**items, **context.state})

    async def _listed(self, added: _DynamicToolsetState, context: ReadonlyContext) -> ToolList:
        try:
            if added.owned is not None and not self.managers.is_open:
                raise SnapshotError(
                    "the runtime is not open", hint="use the runtime inside `async with runtime:`"
                )
            work = self._opened_and_listed(added, context)
            name, deadline = f"toolset {added.toolset.name}", _deadline_in(added.timeout)
            listed = await run_in_task(work, name=name, deadline=deadline)
        except Exception as error:  # noqa: BLE001 - the author's toolset; its policy decides: `fail` raises
            return self._list_after_failure(added, context, error)
        if added.on_error == "stale" and context.meta.session_id:
            _store_list(added.last, context.meta.session_id, listed)
        return listed

    async def _opened_and_listed(self, added: _DynamicToolsetState, context: ReadonlyContext) -> ToolList:
        await _opened(added)
        listed = await list_tools(added.toolset, context, self._options)
        if listed.is_foreign:  # checked here, so that the toolset's policy applies
            self._require_hooked([listed])
        return listed

    def _require_hooked(self, lists: Sequence[ToolList]) -> None:
        """Raise if a toolset does not list a tool that a hook names.

        Raises:
            SnapshotError: a hook names a tool that its toolset does not list.
        """
        ids = {listed.toolset: [tool.spec.id for tool in listed.tools] for listed in lists}
        if problem := self._options.hook_tools.missing(ids):
            hint = "correct the id, or declare in the toolset's `tool_ids` which tools it can list"
            raise SnapshotError(problem, hint=hint)

    def _log_left_out(self, lists: Sequence[ToolList]) -> None:
        """Log once which tools are not offered, with the reasons; only the first ones of a long list."""
        for listed in lists:
            new = [item for item in listed.left_out.items() if item not in self._logged]
            if len(self._logged) + len(new) > _MOST_LOGGED:
                self._logged.clear()
            self._logged.update(new)
            for tool, reason in new[:_MOST_AT_ONCE]:
                log.warning("toolset %s: the tool %s is not offered: %s", listed.toolset, tool, reason)
            if (others := len(new) - _MOST_AT_ONCE) > 0:
                log.warning("toolset %s: %d other tools are not offered", listed.toolset, others)

    def _list_after_failure(
        self, added: _DynamicToolsetState, context: ReadonlyContext, error: Exception
    ) -> ToolList:
        """Return the list that replaces a failed list.

        Raises:
            SnapshotError: the policy of the toolset makes the request fail.
        """
        name, failure = added.toolset.name, _reason_text(error)
        last = added.last.get(context.meta.session_id)
        if added.on_error == "fail" or (added.on_error == "stale" and last is None):
            raise _failed_list(added, "list its tools", error) from error
        _log_failure(
            logging.WARNING, f"toolset {name} cannot list its tools (on_error={added.on_error})", error
        )
        if added.on_error == "drop" or last is None:
            return ToolList(toolset=name, failure=failure, public_failure=_public_reason(error))
        return replace(last, failure=failure, public_failure=_public_reason(error))


def _deadline_in(seconds: float) -> float:
    """Return a time on the clock of the running event loop."""
    return asyncio.get_running_loop().time() + seconds


async def _read_state(read_state: ReadState, meta: CallMeta) -> Mapping[str, Json]:
    return await read_state(meta)


async def _opened(added: _DynamicToolsetState) -> None:
    if added.owned is not None:
        await added.owned.open()


def _failed_list(added: _DynamicToolsetState, what: str, error: Exception) -> SnapshotError:
    name = added.toolset.name
    return SnapshotError(
        f"toolset {name!r} cannot {what}: {_reason_text(error)}", hint=getattr(error, "hint", "")
    )


def _log_failure(level: int, what: str, error: Exception) -> None:
    """Log why a toolset is left out: on one line for an error of the environment, otherwise with the
    traceback."""
    if isinstance(error, ToolgenError):
        log.log(level, "%s: %s", what, _reason_text(error))
        log.debug("%s", what, exc_info=error)
    else:
        log.log(level, "%s", what, exc_info=error)


def _reason_text(error: Exception) -> str:
    if isinstance(error, RegistrationError):
        return error.message
    if isinstance(error, TimeoutError):
        return "it timed out"
    text = error.message if isinstance(error, ToolgenError) else str(error)  # its hint is not a reason
    return f"{type(error).__name__}: {text}"


def _public_reason(error: Exception) -> str:
    """Return the public reason why a toolset is left out, without the text of a third-party exception."""
    is_ours = isinstance(error, RegistrationError | TimeoutError)
    return _reason_text(error) if is_ours else f"it cannot list its tools ({name_of(error)})"


def _store_list(lists: OrderedDict[str, ToolList], session: str, listed: ToolList) -> None:
    lists[session] = listed
    lists.move_to_end(session)
    while len(lists) > _MOST_STALE:
        lists.popitem(last=False)
