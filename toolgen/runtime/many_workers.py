"""Requirements of an engine with many workers: stores that all workers can reach, and one secret.

A run moves between workers. A worker with a store on its own machine would read other data than the worker
before it, and a worker with its own secret would accept no token of the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from toolgen.calls.errors import RegistrationError

if TYPE_CHECKING:
    from toolgen.calls.capability import Capability
    from toolgen.capabilities import DisabledTools
    from toolgen.engines import Engine


@runtime_checkable
class LocalStore(Protocol):
    """A store in memory, in a file or in a folder, which workers on other machines cannot reach."""

    shared_instead: ClassVar[str]
    """Expression for the shared store that replaces it, as a host writes it."""


def require_engine(engine: Engine, stores: Mapping[str, object], *, has_secret: bool) -> None:
    """Check the engine of a host, and that its workers can share the stores.

    Raises:
        RegistrationError: it is not an engine, or its workers cannot share a store (`require_shared`).
    """
    _refuse_other(engine)
    require_shared(engine, stores, has_secret=has_secret)


def stores_of(
    capabilities: Mapping[str, Capability], disabled: DisabledTools | None = None
) -> dict[str, object]:
    """Return the stores of a runtime, by the name of the class that uses each."""
    users = [*capabilities.values(), *([] if disabled is None else [disabled])]
    stores = ((type(user).__name__, getattr(user, "store", None)) for user in users)
    return {name: store for name, store in stores if store is not None}


def require_shared(engine: Engine, stores: Mapping[str, object], *, has_secret: bool = True) -> None:
    """Check that the workers of an engine can share the stores and have one secret.

    This also applies to clients of the engine, which read and write the same data.

    Args:
        engine: Its `caps` say whether it has many workers; with one worker, all stores are accepted.
        stores: Stores by the name of the class that uses each.
        has_secret: Whether the host passed a secret.

    Raises:
        RegistrationError: a store or the secret is not shared; the message names each, and its replacement.
    """
    if not engine.caps.has_many_workers:
        return
    problems = [
        f"{place} has a {type(store).__name__}; use {store.shared_instead}"
        for place, store in stores.items()
        if isinstance(store, LocalStore)
    ]
    if not has_secret:
        problems.append("secret= is missing; pass the same secret in all processes: Runtime(secret=…)")
    if problems:
        lines = "".join(f"\n  {problem}" for problem in problems)
        raise RegistrationError(
            f"the engine {engine.name!r} has many workers, which must share all data:{lines}"
        )


def _refuse_other(engine: object) -> None:
    """Check that the engine of a host is an engine.

    Raises:
        RegistrationError: it is not an engine.
    """
    if hasattr(engine, "start_run") and not isinstance(engine, type):
        return
    if isinstance(engine, str | PurePath):
        hint = f"write Runtime(engine=InProcessEngine({str(engine)!r}))"
    elif isinstance(engine, type):
        hint = f"pass an instance: {engine.__name__}(…)"
    else:
        hint = 'write Runtime(engine=InProcessEngine("runs.db"))'
    shown = engine.__name__ if isinstance(engine, type) else repr(engine)
    raise RegistrationError(f"engine= is {shown}, not an engine", hint=hint)
