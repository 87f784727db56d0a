"""`toolgen runs check`: names the calls that wait and that no host has sealed so, and adopts them."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Sequence
from typing import Any, Final

from toolgen.agents import Agents
from toolgen.contract.printable import printable
from toolgen.runs import CheckedEngine, Engine
from toolgen.runtime import Runtime
from toolgen.shapes.issues import short
from toolgen.waiting.checking import CheckedCall, waits_of

from .config import Project
from .runs import open_engine
from .sensitive import shown_record
from .terminal import is_confirmed

_LONGEST: Final = 20_000
"""Characters of one field; the rest is in the run."""


async def check_runs(
    project: Project, run_ids: Collection[str], *, adopt: bool, is_sure: bool, by: str
) -> int:
    """Print what is damaged, and each call that waits and is not sealed, and adopt those that can be.

    Return 1 where something is damaged, or some are left, which nobody can answer.

    Raises:
        UnknownRunError: no run has an id that is given.
        ToolgenError: nobody is there to say that what is shown is adopted.
    """
    async with open_engine(project, checks=True) as (runtime, engine):
        if run_ids:
            statuses = [await engine.status(run_id) for run_id in run_ids]
            checked = await runtime.waits.check([wait for status in statuses for wait in waits_of(status)])
        else:
            checked = await runtime.waits.check()
        damage = await _show_damage(runtime, engine)
        suspects = [call for call in checked if call.state != "sealed"]
        for call in suspects:
            print("\n".join(map(printable, _lines(runtime, call))), file=sys.stderr if adopt else sys.stdout)
        if not suspects:
            print("every call that waits is sealed", file=sys.stderr)
            return 1 if damage else 0
        if adopt:
            suspects = await _adopt(runtime, suspects, is_sure, by)
        elif any(call.state == "unsealed" for call in suspects):
            print("adopt what is as it was asked: toolgen runs check --adopt RUN", file=sys.stderr)
        for run_id in dict.fromkeys(call.run_id for call in suspects if call.state == "tampered"):
            print(f"it was changed, cancel it: toolgen runs cancel {printable(run_id)}", file=sys.stderr)
    return 1 if suspects or damage else 0


async def _show_damage(runtime: Runtime, engine: Engine) -> tuple[str, ...]:
    """Print what of runs and sessions is damaged, and return it."""
    damage: tuple[str, ...] = ()
    if isinstance(engine, CheckedEngine):
        damage = await engine.check()
        print("\n".join(map(printable, engine.describe())), file=sys.stderr)
    if isinstance(runtime.assembly.joined, Agents):
        sessions = await runtime.assembly.joined.check()
        damage += sessions.damage
        for line in sessions.lost:
            print(printable(f"lost: {line}"))
    for line in damage:
        print(printable(f"damaged: {line}"))
    if damage:
        print("restore the file from a backup, or cancel the runs that are named", file=sys.stderr)
    return damage


async def _adopt(
    runtime: Runtime, suspects: Sequence[CheckedCall], is_sure: bool, by: str
) -> list[CheckedCall]:
    """Adopt the unsealed calls of the runs that have no tampered one, and return those that are left."""
    tampered = {call.run_id for call in suspects if call.state == "tampered"}
    runs = dict.fromkeys(call.run_id for call in suspects if call.run_id not in tampered)
    if runs and not is_sure and not is_confirmed("adopt what is unsealed, as it stands?", "adopted"):
        print("nothing was adopted", file=sys.stderr)
        return list(suspects)
    for run_id in runs:
        for call in await runtime.waits.adopt(run_id, by=by):
            print(printable(f"adopted: {call.run_id}  {call.id}  {call.tool}"), file=sys.stderr)
    return [call for call in suspects if call.run_id in tampered]


def _lines(runtime: Runtime, call: CheckedCall) -> list[str]:
    """Return the state of a call, and every field of its record on a line of its own."""
    head = f"{call.run_id}  {call.op}  {call.state}  {call.id}  {call.tool}".rstrip()
    if not isinstance(call.record, dict):
        return [head, "  its record cannot be read"]
    shown: dict[str, Any] = shown_record(runtime, call.record)
    return [head, *(f"  {name}: {_text(value)}" for name, value in shown.items() if name != "seal")]


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    cut = short(text, _LONGEST)
    return text if cut == text else f"{cut} ({len(text)} characters; toolgen runs show has them)"
