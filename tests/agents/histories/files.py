"""A history: the journal of a run that ended, and of all that it started, as a JSON file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from toolgen.engines.in_process.journal import OpRecord, RunRecord, decode, encode

FOLDER: Final = Path(__file__).parent
NAMES: Final = sorted(path.stem for path in FOLDER.glob("*.json"))


def store(name: str, records: list[RunRecord]) -> None:
    """Write a history. The order of keys stays, for digests depend on it."""
    text = json.dumps([_document(record) for record in records], indent=1)
    (FOLDER / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")


def stored(name: str) -> list[RunRecord]:
    """Return a history as its journal had it."""
    return [_record(document) for document in json.loads((FOLDER / f"{name}.json").read_bytes())]


def _document(record: RunRecord) -> dict[str, Any]:
    return {
        "run_id": record.run_id,
        "loop": record.loop,
        "input": decode(record.input),
        "parent": record.parent,
        "starter": record.starter,
        "began": record.began,
        "ending": record.ending,
        "output": decode(record.output),
        "keys": sorted(record.keys),
        "ops": [
            {
                "op": op.op,
                "what": op.what,
                "digest": op.digest.hex(),
                "at": op.at,
                "value": decode(op.value),
                "kind": op.kind,
                "message": op.message,
            }
            for op in record.ops.values()
        ],
    }


def _record(document: dict[str, Any]) -> RunRecord:
    ops = [
        OpRecord(**{**op, "digest": bytes.fromhex(op["digest"]), "value": _text(op["value"])})
        for op in document["ops"]
    ]
    return RunRecord(
        run_id=document["run_id"],
        loop=document["loop"],
        input=_text(document["input"]),
        parent=document["parent"],
        starter=document["starter"],
        began=document["began"],
        ending=document["ending"],
        output=_text(document["output"]),
        keys=set(document["keys"]),
        ops={op.op: op for op in ops},
    )


def _text(value: Any) -> bytes:
    return encode(value, "a stored value")[0]
