"""The file of a witness: what a damaged, a large or a foreign one comes to."""

from __future__ import annotations

import resource
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from toolgen.engines.in_process.sqlite_steps import engine_id
from toolgen.engines.in_process.sqlite_tables import FORMAT
from toolgen.engines.in_process.witness import MOST_BYTES, Witness
from toolgen.stores import ReplacedFileError, StoreCorruptError, StoreError, UnsafeFileError
from toolgen.stores.line_file import LineFile
from toolgen.stores.sqlite_batches import SqliteBatches

pytestmark = pytest.mark.asyncio(loop_factories=["real"])


@pytest.fixture
async def batches(tmp_path: Path) -> AsyncIterator[SqliteBatches]:
    made = SqliteBatches(tmp_path / "runs.db", FORMAT)
    made.write_now(engine_id)
    yield made
    await made.close()


async def noted(batches: SqliteBatches, *ops: str) -> None:
    """Note in a process that calls of the run have begun, each in a batch of its own."""
    witness = Witness(batches)
    witness.open()
    for op in ops:
        witness.note("begun", "r", op)
        await batches.wait_written()
    witness.close()


def path_of(batches: SqliteBatches) -> Path:
    return batches.path.with_name("runs.db.witness")


async def set_number(batches: SqliteBatches, number: int) -> None:
    await batches.run(
        lambda database: database.execute("UPDATE meta SET value = ? WHERE name = 'witness'", (number,))
    )


async def behind(batches: SqliteBatches, number: int) -> list[str]:
    """Set the number of the journal back, and return what it lacks then."""
    await set_number(batches, number)
    witness = Witness(batches)
    lacking = witness.open()
    begun = list(witness.take_begun("r"))
    assert begun == [fact.op for fact in lacking if fact.kind == "begun"]
    witness.close()
    return begun


async def test_a_journal_lacks_what_comes_after_its_number(batches: SqliteBatches) -> None:
    await noted(batches, "a", "b")
    await noted(batches, "c")
    assert await behind(batches, 1) == ["b", "c"]


async def test_what_was_lost_once_is_known_in_every_later_process(batches: SqliteBatches) -> None:
    await noted(batches, "a", "b")
    assert await behind(batches, 0) == ["a", "b"]
    await batches.wait_written()
    for _ in range(2):
        witness = Witness(batches)
        assert witness.open() == [], "it is said once"
        assert list(witness.take_begun("r")) == ["a", "b"]
        witness.close()


async def test_each_call_of_a_tree_may_be_one_that_was_lost_until_all_of_those_were_met(
    batches: SqliteBatches,
) -> None:
    witness = Witness(batches)
    witness.open()
    for run_id, op in ("r", "a"), ("r/child", "b"):
        witness.note("begun", run_id, op, "r")
        await batches.wait_written()
    witness.close()
    await set_number(batches, 0)
    witness = Witness(batches)
    assert len(witness.open()) == 2
    assert not witness.meet("s", "a", "s"), "another tree has lost none"
    assert [witness.meet("r", op, "r") for op in ("x", "a", "y")] == [True, True, True]
    assert witness.meet("r/child", "b", "r")
    assert not witness.meet("r", "z", "r"), "all were met"
    witness.close()


async def test_it_has_no_id_and_no_content(batches: SqliteBatches) -> None:
    witness = Witness(batches)
    witness.open()
    witness.note("begun", "run-of-mira", "tool:call_0_0")
    await batches.wait_written()
    witness.close()
    text = path_of(batches).read_text()
    assert "tool:call_0_0" in text
    assert "mira" not in text


@pytest.mark.parametrize("torn", [b'[3,[["begun","', b"\x00" * 30, b"[]\n[1]\n", b'["lost","a",1]\n'])
async def test_parts_of_lines_are_passed_over(batches: SqliteBatches, torn: bytes) -> None:
    await noted(batches, "a", "b")
    with path_of(batches).open("ab") as file:  # a few bytes
        file.write(torn)
    await noted(batches, "c")
    assert await behind(batches, 0) == ["a", "b", "c"]


async def test_a_line_for_which_the_disk_has_no_room_spoils_no_later_one(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    file = LineFile(path, content="witness")
    file.replace([b"first\n"])
    file.open()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(b"first\nse"), before[1]))
    try:
        with pytest.raises(StoreError):
            file.append(b"second\n")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    file.append(b"third\n")
    assert file.read() == ([b"first", b"se", b"third"], True)
    assert file.size_bytes == path.stat().st_size
    file.close()


async def test_one_that_could_not_be_opened_again_is_opened_later(tmp_path: Path) -> None:
    file = LineFile(tmp_path / "lines", content="witness")
    file.replace([b"first\n"])
    file.open()
    file.replace([b"first\n"])
    file.path.chmod(0o644)
    for _ in range(2):
        with pytest.raises(StoreError):
            file.append(b"second\n")
    file.path.chmod(0o600)
    file.append(b"second\n")
    file.close()
    file.append(b"third\n")
    assert file.read() == ([b"first", b"second"], True)


@pytest.mark.exhaustive
async def test_a_large_one_keeps_its_newest_half(batches: SqliteBatches) -> None:
    await noted(batches, "first")
    witness = Witness(batches)
    witness.open()
    for number in range(30_000):
        witness.note("begun", "r", f"tool:{number}")
    await batches.wait_written()
    assert path_of(batches).stat().st_size < MOST_BYTES
    witness.note("begun", "r", "last")
    await batches.wait_written()
    witness.close()
    begun = await behind(batches, 0)
    assert begun[0] == f"tool:{30_000 - len(begun) + 1}"
    assert begun[-1] == "last"
    assert len(begun) >= 10_000


def without_its_log(batches: SqliteBatches, folder: Path) -> SqliteBatches:
    """Return the journal as a loss of power leaves it that takes all of its write-ahead log."""
    folder.mkdir()
    for path in batches.path, path_of(batches):
        (folder / path.name).write_bytes(path.read_bytes())
        (folder / path.name).chmod(0o600)
    return SqliteBatches(folder / batches.path.name, FORMAT)


async def test_a_journal_that_has_lost_its_log_is_still_that_of_its_witness(
    batches: SqliteBatches, tmp_path: Path
) -> None:
    await noted(batches, "a", "b")
    left = without_its_log(batches, tmp_path / "left")
    assert await behind(left, 0) == ["a", "b"]
    await left.close()


async def test_one_that_was_replaced_meanwhile_is_refused(batches: SqliteBatches, tmp_path: Path) -> None:
    await noted(batches, "a", "b")
    left = without_its_log(batches, tmp_path / "left")
    await left.close()
    left.path.unlink()
    other = SqliteBatches(tmp_path / "other.db", FORMAT)
    await other.close()
    other.path.rename(left.path)
    left.reopen()
    with pytest.raises(ReplacedFileError, match="is not the journal of its witness"):
        Witness(left).open()
    await left.close()


@pytest.mark.parametrize("lost", [bytes(30), b"", b'["witn'], ids=["zeros", "nothing", "a part"])
async def test_a_witness_without_its_first_line_is_taken_for_that_of_the_journal(
    batches: SqliteBatches, lost: bytes
) -> None:
    await noted(batches, "a", "b")
    path = path_of(batches)
    first, _, rest = path.read_bytes().partition(b"\n")
    path.write_bytes(lost + b"\n" + rest)
    assert await behind(batches, 1) == ["b"]
    assert path.read_bytes().startswith(first), "it is written again"


async def test_nobody_else_may_write_it(batches: SqliteBatches) -> None:
    await noted(batches, "a")
    path_of(batches).chmod(0o666)
    with pytest.raises(UnsafeFileError, match="has the mode 0666"):
        Witness(batches).open()


async def test_one_that_is_gone_begins_anew(batches: SqliteBatches) -> None:
    await noted(batches, "a", "b")
    path_of(batches).unlink()
    await noted(batches, "c")
    assert await behind(batches, 2) == ["c"]


async def test_a_number_that_no_journal_can_hold_is_passed_over(batches: SqliteBatches) -> None:
    await noted(batches, "a")
    with path_of(batches).open("ab") as file:  # a few bytes
        file.write(b'[%d,[["begun","r","b"]]]\n' % 2**63)
    assert await behind(batches, 0) == ["a"]


async def test_one_that_is_removed_under_its_worker_is_written_again(batches: SqliteBatches) -> None:
    witness = Witness(batches)
    witness.open()
    witness.note("begun", "r", "a")
    await batches.wait_written()
    path_of(batches).unlink()
    witness.note("begun", "r", "b")
    await batches.wait_written()
    witness.close()
    assert await behind(batches, 0) == ["a", "b"]


async def test_what_a_kill_left_of_a_new_one_is_removed(batches: SqliteBatches) -> None:
    draft = path_of(batches).with_name("runs.db.witness.0123456789abcdef.new")
    draft.write_bytes(b"[1,")
    await noted(batches, "a")
    assert not draft.exists()


async def test_a_check_names_a_witness_that_cannot_be_used(batches: SqliteBatches) -> None:
    witness = Witness(batches)
    witness.check()
    await noted(batches, "a", "b")
    witness.check()
    whole = path_of(batches).read_bytes()
    path_of(batches).write_bytes(whole[10:])
    with pytest.raises(StoreCorruptError, match="its first line cannot be read"):
        witness.check()
    path_of(batches).write_bytes(whole.replace(b"sqlite_", b"other_"))
    with pytest.raises(ReplacedFileError, match="is not the journal of its witness"):
        witness.check()
    path_of(batches).write_bytes(whole)
    await set_number(batches, 1)
    with pytest.raises(ReplacedFileError, match=r"older than its witness \(calls that had started: 1"):
        witness.check()
    path_of(batches).chmod(0o666)
    with pytest.raises(UnsafeFileError, match="has the mode 0666"):
        witness.check()
