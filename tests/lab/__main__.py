"""The fault laboratory: `python -m tests.lab`, or `--short`.

Processes of a design of its own are killed at random moments, and after each episode ten invariants are
checked over what they left (`tests/lab/invariants.py`). In some episodes files are lost, or older ones come
back (`tests/lab/files.py`), or the disk fails for a while (`tests/lab/disk.py`). At last the power is lost at
every commit of a conversation (`tests/lab/power.py`). An episode in which one does not hold leaves its
folder, and `--mode MODE --seed SEED --episodes 1` repeats it: the same is done, and killed at about the same
moments.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final, TypeAlias

from tests.failing_disk import environment
from toolgen.stores.sqlite_connection import Synchronous

from . import power
from .disk import failing_disk
from .episode import Told, one_death, random_kills
from .figures import Figures
from .files import LOSSES, is_apart, lose_files
from .member import Role, World
from .mortality import Death, Step
from .servers import Servers, missing_servers, servers

Episode: TypeAlias = Callable[[int], Told]
"""Runs the episode of a seed."""
KILLS: Final = {"together": 220, "apart": 220, "step": 80, "files": 160, "disk": 40, "temporal": 60}
"""How many there are at the least, by mode."""
FEW_KILLS: Final = {"together": 7, "apart": 7, "step": 8, "files": 16, "disk": 2, "temporal": 4}
POWER: Final = "power"
"""The mode that kills nothing, and cuts the write-ahead log of a file."""
_SYNCHRONOUS: Final[tuple[Synchronous, ...]] = ("NORMAL", "FULL")
_FEW_COMMITS: Final = 8
"""In a short one, every so many commits."""
_AT_ONCE: Final = 8
"""Kills of one episode at the most."""
_ALONE: Final[Mapping[str, Role]] = {"both": "both"}
_APART: Final[Mapping[str, Role]] = {"worker": "worker", "client": "client"}
_TWO: Final[Mapping[str, Role]] = {"left": "worker", "right": "worker", "client": "client"}
_LAST: Final[Mapping[Step, int]] = {"commit": 40, "ledger": 60, "callback": 2_000}
"""The last step at which a process of two conversations is killed."""


def together(seed: int) -> Told:
    """Kill the only process, which is worker and client."""
    return random_kills(_world(seed), _ALONE, Random(seed), _AT_ONCE)


def apart(seed: int) -> Told:
    """Kill the worker of a file, or its client."""
    return random_kills(_world(seed), _APART, Random(seed), _AT_ONCE)


def at_a_step(seed: int) -> Told:
    """Kill the only process at a commit, at a line of the ledger, or at a callback of its event loop."""
    chance = Random(seed)
    step = chance.choice(list(_LAST))
    death = Death(at=step, number=chance.randint(1, _LAST[step]), place=chance.choice(("before", "after")))
    return one_death(_world(seed, conversations=2), death)


def without_files(seed: int) -> Told:
    """Kill the only process twice, and lose files of it, or find older ones."""
    loss = LOSSES[seed % len(LOSSES)]
    return lose_files(_world(seed, is_apart=is_apart(loss)), loss, Random(seed))


def with_a_failing_disk(seed: int) -> Told:
    """Let the disk fail some times under one process, or under a worker and its client."""
    chance = Random(seed)
    roles = dict(chance.choice((_ALONE, _APART)))
    return failing_disk(_world(seed, is_apart=chance.random() < 0.4), roles, chance)


def on_temporal(given: Servers, seed: int) -> Told:
    """Kill one of two workers or the client, while Temporal and PostgreSQL are away at times."""
    world = _world(seed, temporal=given.temporal, postgres=given.new_database())
    return random_kills(world, _TWO, Random(seed), _AT_ONCE, given)


def _world(seed: int, **where: Any) -> World:
    return World(folder=Path(tempfile.mkdtemp(prefix="lab-")), seed=seed, **where)


@contextmanager
def episodes(mode: str) -> Iterator[Episode]:
    """Yield what runs an episode of a mode."""
    match mode:
        case "together":
            yield together
        case "apart":
            yield apart
        case "step":
            yield at_a_step
        case "files":
            yield without_files
        case "disk":
            yield with_a_failing_disk
        case _:
            with servers() as given:
                yield partial(on_temporal, given)
                print(f"  {given.outages} outages of Temporal and PostgreSQL")


def run(mode: str, kills: int, seed: int, most: int) -> list[str]:
    """Run episodes until so many processes were killed; print the figures and return the violations.

    There are `most` episodes at the most, and it is a violation where most of them had no kill.
    """
    figures = Figures()
    found: list[str] = []
    with episodes(mode) as episode:
        for number in range(seed, seed + most):
            told = episode(number)
            figures.add(told)
            found += (str(violation) for violation in told.violations)
            if told.violations:
                command = f"python -m tests.lab --mode {mode} --seed {number} --episodes 1"
                found.append(f"left: {told.folder}; again: {command}")
            if figures.counted["faults" if mode == "disk" else "kills"] >= kills:
                break
    if 2 * (figures.counted["kills"] + figures.counted["faults"]) < figures.counted["episodes"]:
        found.append(f"{mode}: most episodes had no kill")
    print(f"{mode}: {figures}", flush=True)
    return found


def lose_power(every: int) -> list[str]:
    """Lose the power at every so many commits; print the figures and return what is wrong."""
    found: list[str] = []
    for synchronous in _SYNCHRONOUS:
        cuts, wrong = asyncio.run(power.losses(synchronous, every))
        print(f"power, {synchronous}: {cuts} cuts, {len(wrong)} violations", flush=True)
        found += wrong
    return found


def _in_a_process(mode: str, options: argparse.Namespace) -> list[str]:
    """Run a mode in a process of its own, whose children have a disk that fails; return what is wrong."""
    command = [sys.executable, "-m", "tests.lab", "--mode", mode, "--seed", str(options.seed)]
    for name, value in (("--kills", options.kills), ("--episodes", options.episodes)):
        command += [] if value is None else [name, str(value)]
    with tempfile.TemporaryDirectory(prefix="lab-disk-") as folder:
        done = subprocess.run(
            command + ["--short"] * options.short, env=environment(Path(folder)), check=False
        )
    return [f"{mode}: see above"] if done.returncode else []


def main() -> int:
    """Run all modes, print at last what is wrong, and return the exit code: 1 where something is."""
    parser = argparse.ArgumentParser(prog="python -m tests.lab")
    parser.add_argument("--short", action="store_true", help="a few kills of each mode")
    parser.add_argument("--mode", choices=[*KILLS, POWER], help="this one alone")
    parser.add_argument("--seed", type=int, default=1, help="of the first episode; each has its own")
    parser.add_argument("--kills", type=int, help="how many, at the least")
    parser.add_argument("--episodes", type=int, help="how many, at the most")
    options = parser.parse_args()
    wanted = FEW_KILLS if options.short else KILLS
    found: list[str] = []
    for mode in [options.mode] if options.mode else [*wanted, POWER]:
        if mode == POWER:
            found += lose_power(_FEW_COMMITS if options.short else 1)
            continue
        if mode == "disk" and "LAB_FAULT" not in os.environ:
            found += _in_a_process(mode, options)
            continue
        if mode == "temporal" and (missing := missing_servers()):
            print(f"temporal: left out, for there is no {missing}")
            if os.environ.get("CI"):
                found.append("temporal: CI may not leave it out")
            continue
        kills = options.kills or wanted[mode]
        found += run(mode, kills, options.seed, options.episodes or 2 * kills)
    for line in found:
        print(f"  {line}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
