"""One episode: processes that are started, killed and started again until a client has led all to its end."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from random import Random
from typing import Final, Protocol

from . import member
from .evidence import Evidence, gather
from .invariants import Violation, violations
from .member import Role, World
from .mortality import Death

PATIENCE_S: Final = 120.0
"""For a client that is not killed any more, without a new line in the ledger."""
_START_S: Final = 30.0
_LONGEST_LIFE_S: Final = 0.5
_POLL_S: Final = 0.005
_CLOSED: Final = 0.12
"""The share of processes that are closed and not killed."""
_CLOSE_S: Final = 20.0
_MOST_FAILURES: Final = 20
"""Processes of an episode that end by themselves, as where a server is away when they begin."""
FORKS: Final = multiprocessing.get_context("forkserver")
"""Forks processes from one that has imported what they need, and that has no threads."""
FORKS.set_forkserver_preload([member.__name__])


class Outages(Protocol):
    """Takes away what the processes need, at times."""

    def maybe(self, chance: Random) -> None:
        """Take something away for some seconds, or nothing."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What came of an episode."""

    folder: Path
    """Where it happened; removed unless there are violations."""
    kills: int
    """Of processes that lived."""
    closings: int = 0
    """Of processes that were told to end."""
    faults: int = 0
    """Of the disk."""
    evidence: Evidence
    violations: Sequence[Violation]


class Processes:
    """The processes of an episode, by name."""

    def __init__(self, world: World, roles: Mapping[str, Role]) -> None:
        self._world, self._roles = world, roles
        self._alive: dict[str, BaseProcess] = {}
        self._started = self._failures = 0
        self.stuck: list[str] = []
        """Those that did not end when they were told to."""

    def start(self, name: str, death: Death | None = None) -> None:
        """Start a process, and return when it works, or is dead."""
        self._started += 1
        ready = self._world.folder / f"ready-{self._started}"
        given = (self._world, self._roles[name], name, ready, death)
        process = FORKS.Process(target=member.run, args=given, daemon=True)
        process.start()
        self._alive[name] = process
        end = time.monotonic() + _START_S
        while process.is_alive() and not ready.exists() and time.monotonic() < end:
            time.sleep(_POLL_S)

    def start_missing(self) -> None:
        """Start those that are not there or ended by themselves, as a supervisor would.

        Raises:
            RuntimeError: they end again and again.
        """
        for name in self._roles:
            process = self._alive.get(name)
            if process is not None and process.exitcode not in (None, 0):
                self._failures += 1
                if self._failures > _MOST_FAILURES:
                    raise RuntimeError(f"{name} ends by itself; see {self._world.folder / name}.stderr")
            if process is None or process.exitcode not in (None, 0):
                self.start(name)

    def kill(self, name: str) -> bool:
        """Kill a process as a loss of its machine would; return whether it still lived."""
        process = self._alive.pop(name)
        lived = process.is_alive()
        process.kill()
        process.join()
        return lived

    def close(self, name: str) -> None:
        """Tell a process to end, as Ctrl+C does, and kill it where it does not."""
        process = self._alive.pop(name)
        if process.pid is not None and process.is_alive():
            os.kill(process.pid, signal.SIGINT)
        process.join(_CLOSE_S)
        if process.exitcode is None:
            self.stuck.append(name)
        process.kill()
        process.join()

    def kill_all(self) -> None:
        for name in list(self._alive):
            self.kill(name)

    def has_led(self, name: str) -> bool:
        """Return whether the client has led all to its end."""
        return name in self._alive and self._alive[name].exitcode == 0

    def wait(self, name: str, seconds: float) -> None:
        """Return after some seconds, or when a process has ended."""
        self._alive[name].join(seconds)


def random_kills(
    world: World, roles: Mapping[str, Role], chance: Random, kills: int, outages: Outages | None = None
) -> Told:
    """Kill one of the processes after the other at any time, and let the rest come to its end.

    Some are closed. The client is the last of them.
    """
    processes, client = Processes(world, roles), list(roles)[-1]
    done = closings = 0
    try:
        processes.start_missing()
        for _ in range(kills):
            processes.wait(client, chance.uniform(0.0, _LONGEST_LIFE_S))
            if outages is not None:
                outages.maybe(chance)
            if processes.has_led(client):
                break
            name = chance.choice(list(roles))
            if chance.random() < _CLOSED:
                processes.close(name)
                closings += 1
            else:
                done += processes.kill(name)
            time.sleep(chance.choice((0.0, 0.0, chance.uniform(0.0, 0.3))))
            processes.start_missing()
        return replace(told(world, processes, client, done), closings=closings)
    finally:
        processes.kill_all()


def one_death(world: World, death: Death) -> Told:
    """Let the only process die at a step, and another one go on."""
    processes = Processes(world, {"both": "both"})
    try:
        processes.start("both", death)
        processes.wait("both", PATIENCE_S)
        return told(world, processes, "both", 0 if processes.has_led("both") else 1)
    finally:
        processes.kill_all()


def _is_led(world: World, processes: Processes, client: str) -> bool:
    """Start what is missing until the client has led all to its end, kill the rest; return whether it has."""
    end, size = time.monotonic() + PATIENCE_S, 0
    while not processes.has_led(client) and time.monotonic() < end:
        processes.start_missing()
        processes.wait(client, 1.0)
        if size < (size := world.ledger.stat().st_size):
            end = time.monotonic() + PATIENCE_S
    has_led = processes.has_led(client)
    processes.kill_all()
    return has_led


def told(
    world: World,
    processes: Processes,
    client: str,
    kills: int,
    further: Callable[[Evidence], Iterable[Violation]] = lambda evidence: (),
) -> Told:
    """Wait for the end, and check what is left, further invariants of the episode too.

    All is led to its end twice: a thread that ends while the last process does leaves the outcome of its call
    to a worker of later.
    """
    has_led = _is_led(world, processes, client) and _is_led(world, processes, client)
    evidence = asyncio.run(gather(world))
    found = [*violations(evidence), *further(evidence)]
    late = [(name, f"it did not end in {_CLOSE_S:.0f} seconds") for name in processes.stuck]
    if not has_led:
        late.append((client, f"it has not led all to its end, and did nothing for {PATIENCE_S:.0f} seconds"))
    found += [Violation(invariant="I8", subject=name, text=text) for name, text in late]
    if not found:
        shutil.rmtree(world.folder)
    return Told(folder=world.folder, kills=kills, evidence=evidence, violations=found)
