"""`toolgen runs check`: names the calls that wait and that no host has sealed so, and adopts them."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Sequence
from typing import Any, Final

from toolgen.contract.printable import printable
from toolgen.runtime import Runtime
from toolgen.runtime.engine import CheckedEngine, Engine
from toolgen.runtime.waiting.checking import CheckedCall, waits_of
from toolgen.shapes.issues import short

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
            found = await runtime.checked([wait for status in statuses for wait in waits_of(status)])
        else:
            found = await runtime.checked()
        damage = await _show_damage(engine)
        suspects = [one for one in found if one.state != "sealed"]
        for one in suspects:
            print("\n".join(map(printable, _lines(runtime, one))), file=sys.stderr if adopt else sys.stdout)
        if not suspects:
            print("every call that waits is sealed", file=sys.stderr)
            return 1 if damage else 0
        if adopt:
            suspects = await _adopt(runtime, suspects, is_sure, by)
        elif any(one.state == "unsealed" for one in suspects):
            print("adopt what is as it was asked: toolgen runs check --adopt RUN", file=sys.stderr)
        for run_id in dict.fromkeys(one.run_id for one in suspects if one.state == "tampered"):
            print(f"it was changed, cancel it: toolgen runs cancel {printable(run_id)}", file=sys.stderr)
    return 1 if suspects or damage else 0


async def _show_damage(engine: Engine) -> tuple[str, ...]:
    """Print what of the runs is damaged, and return it."""
    damage = await engine.check() if isinstance(engine, CheckedEngine) else ()
    for one in damage:
        print(printable(f"damaged: {one}"))
    if damage:
        print("restore the file from a backup, or cancel the runs that are named", file=sys.stderr)
    return damage


async def _adopt(
    runtime: Runtime, suspects: Sequence[CheckedCall], is_sure: bool, by: str
) -> list[CheckedCall]:
    """Adopt the unsealed calls of the runs that have no tampered one, and return those that are left."""
    tampered = {one.run_id for one in suspects if one.state == "tampered"}
    runs = dict.fromkeys(one.run_id for one in suspects if one.run_id not in tampered)
    if runs and not is_sure and not is_confirmed("adopt what is unsealed, as it stands?", "adopted"):
        print("nothing was adopted", file=sys.stderr)
        return list(suspects)
    for run_id in runs:
        for one in await runtime.adopt(run_id, by=by):
            print(printable(f"adopted: {one.run_id}  {one.id}  {one.tool}"), file=sys.stderr)
    return [one for one in suspects if one.run_id in tampered]


def _lines(runtime: Runtime, one: CheckedCall) -> list[str]:
    """Return the state of a call, and every field of its record on a line of its own."""
    head = f"{one.run_id}  {one.op}  {one.state}  {one.id}  {one.tool}".rstrip()
    if not isinstance(one.record, dict):
        return [head, "  its record cannot be read"]
    shown: dict[str, Any] = shown_record(runtime, one.record)
    return [head, *(f"  {name}: {_text(value)}" for name, value in shown.items() if name != "seal")]


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    cut = short(text, _LONGEST)
    return text if cut == text else f"{cut} ({len(text)} characters; toolgen runs show has them)"
