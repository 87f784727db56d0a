"""Stored histories of runs: written by `UPDATE=1`, and replayed by the workflow of now.

To write a history anew is to give up the runs that a server has; raise `VERSION` of their documents then.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from temporalio.client import WorkflowHistory
from temporalio.converter import PayloadCodec
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner, WorkflowReplayResult

from toolgen.engines import LastEvents, Loop
from toolgen.engines.temporal import TemporalEngine
from toolgen.engines.temporal.payloads import data_converter
from toolgen.engines.temporal.settings import SettingsInterceptor
from toolgen.engines.temporal.workflow import RunWorkflow

_WORKER: Final = re.compile(r'"[0-9]+@[^"]+"')
"""The name of a worker and its queue: its process, and its machine."""


@dataclass(frozen=True, slots=True)
class StoredHistory:
    """The history of a run, and what of its engine stands in it."""

    prefix: str
    history: WorkflowHistory


class Histories:
    """A folder of histories, a file for each run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def store(self, engine: TemporalEngine, *run_ids: str) -> None:
        """Write the histories of runs as they are now."""
        self._folder.mkdir(exist_ok=True)
        client = await engine._connected()
        for run_id in run_ids:
            history = await client.client.get_workflow_handle(client._id(run_id)).fetch_history()
            events = _without(history.to_json_dict(), "stackTrace")["events"]
            head = {"run": run_id, "prefix": client._settings.prefix}
            text = _WORKER.sub('"worker"', _text_of(head, events))
            (self._folder / f"{name_of(run_id)}.json").write_text(text, "utf-8")

    def names(self) -> list[str]:
        """Return the names of the histories, sorted."""
        return sorted(path.stem for path in self._folder.glob("*.json"))

    def read(self, name: str) -> StoredHistory:
        """Return a history."""
        document = json.loads((self._folder / f"{name}.json").read_text("utf-8"))
        history = WorkflowHistory.from_json(document["run"], document["history"])
        return StoredHistory(document["prefix"], history)


def name_of(run_id: str) -> str:
    """Return the name of the history of a run."""
    return run_id.replace("/", ".").replace(":", "-")


def _text_of(head: Mapping[str, str], events: Sequence[Any]) -> str:
    """Return a history as JSON, with each event on a line of its own."""
    lines = ",\n".join(json.dumps(event, sort_keys=True) for event in events)
    return f'{json.dumps(head)[:-1]}, "history": {{"events": [\n{lines}\n]}}}}\n'


def _without(value: Any, key: str) -> Any:
    """Return a value without a key that no replay reads, such as the files of a stack."""
    match value:
        case dict():
            return {name: _without(item, key) for name, item in value.items() if name != key}
        case list():
            return [_without(item, key) for item in value]
        case _:
            return value


async def replay(
    stored: StoredHistory,
    loops: Mapping[str, Loop],
    *,
    last_events: LastEvents | None = None,
    codec: PayloadCodec | None = None,
) -> WorkflowReplayResult:
    """Replay a history with these loops, as a worker does that has not executed its run before."""
    engine = TemporalEngine(prefix=stored.prefix)
    engine.register(loops=loops, activities={}, last_events=last_events)
    replayer = Replayer(
        workflows=[RunWorkflow],
        data_converter=data_converter(codec),
        interceptors=[SettingsInterceptor(engine._settings)],
        workflow_runner=UnsandboxedWorkflowRunner(),
    )
    return await replayer.replay_workflow(stored.history, raise_on_replay_failure=False)
