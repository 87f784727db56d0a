"""The writer on plain texts: what it writes, leaves alone, refuses, and puts back."""

from __future__ import annotations

import json
import os
import py_compile
import re
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from py_compile import PycInvalidationMode

import pytest

from toolgen.codegen.write import Edit, WriteReport, compare, preview, write
from toolgen.contract.errors import ToolgenError

TEXTS = {"__init__.py": "", "a/types.py": "x = {  'a':1 }\n", "a/schemas.json": '{ "a":1}\n'}


def put(out: Path, texts: dict[str, str], stubs: dict[Path, str] | None = None) -> WriteReport:
    return write(out, texts, design="app.design", stubs=stubs)


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Everything in the folder: path, content and mtime."""
    return {
        str(file.relative_to(folder)): (
            file.read_bytes() if file.is_file() else b"/",
            file.stat().st_mtime_ns,
        )
        for file in sorted(folder.rglob("*"))
        if file.is_file() or not any(file.iterdir())
    }


@pytest.fixture
def out(tmp_path: Path) -> Path:
    out = tmp_path / "gen"
    put(out, TEXTS)
    return out


def test_python_is_formatted_and_the_rest_is_written_as_it_is(out: Path) -> None:
    assert (out / "a/types.py").read_text() == 'x = {"a": 1}\n'
    assert (out / "a/schemas.json").read_text() == '{ "a":1}\n'
    assert (out / "__init__.py").read_bytes() == b""
    assert [file.name for file in out.parent.iterdir()] == ["gen"]


def test_the_manifest_holds_the_digest_of_each_file(out: Path) -> None:
    manifest = json.loads((out / ".toolgen.json").read_text())
    assert (manifest["format"], manifest["design"]) == (3, "app.design")
    assert manifest["files"] == {
        path: {"written": sha256((out / path).read_bytes()).hexdigest()} for path in sorted(TEXTS)
    }


def test_what_the_manifest_says_vouches_for_no_file(out: Path) -> None:
    """Foreign code whose digest somebody has put into the manifest is not what the texts say."""
    before = state(out)
    (out / "a/types.py").write_text("foreign")
    manifest = out / ".toolgen.json"
    document = json.loads(manifest.read_text())
    document["files"]["a/types.py"]["written"] = sha256(b"foreign").hexdigest()
    manifest.write_text(json.dumps(document))
    assert compare(out, TEXTS).changed == ("a/types.py",)
    assert list(preview(out, TEXTS)) == [out / "a/types.py"]
    assert put(out, TEXTS) == WriteReport(written=("a/types.py",))
    assert {path: content for path, (content, _) in state(out).items()} == {
        path: content for path, (content, _) in before.items()
    }


def test_a_manifest_of_other_digests_is_written_again(out: Path) -> None:
    manifest = out / ".toolgen.json"
    text = manifest.read_text()
    manifest.write_text(text.replace(sha256(b"").hexdigest(), "0" * 64))
    assert not compare(out, TEXTS).is_current
    assert put(out, TEXTS) == WriteReport()
    assert manifest.read_text() == text
    assert compare(out, TEXTS).is_current


def test_a_second_run_touches_nothing(out: Path) -> None:
    before = state(out)
    assert put(out, TEXTS) == WriteReport()
    assert state(out) == before


def test_a_change_touches_only_its_file_and_the_manifest(out: Path) -> None:
    before = state(out)
    report = put(out, TEXTS | {"a/schemas.json": "{}\n"})
    after = state(out)
    assert report == WriteReport(written=("a/schemas.json",))
    assert {path for path in after if after[path] != before[path]} == {"a/schemas.json", ".toolgen.json"}


def test_another_text_that_formats_to_the_same_touches_nothing(out: Path) -> None:
    before = state(out)
    assert put(out, TEXTS | {"a/types.py": "x = {'a': 1}\n"}) == WriteReport()
    assert state(out) == before


@pytest.mark.parametrize("name", ["build", "dist", "site-packages", ".venv"])
def test_no_folder_name_escapes_the_formatter(tmp_path: Path, name: str) -> None:
    (tmp_path / ".gitignore").write_text("*\n")
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\nindent-width = 2\nline-length = 40\n")
    text = "def f(argument_one: int, argument_two: int, three: int) -> int:\n    return 1\n"
    put(tmp_path / "gen", {f"{name}/types.py": text.replace("f(", "f( ")})
    assert (tmp_path / f"gen/{name}/types.py").read_text() == text


def test_lines_are_100_wide(tmp_path: Path) -> None:
    fits = f"x = ['{'a' * 42}', '{'b' * 46}']\n".replace("'", '"')
    wide = fits.replace("x", "xy", 1)
    assert len(fits.rstrip()) == 100
    put(tmp_path / "gen", {"fits.py": fits, "wide.py": wide})
    assert (tmp_path / "gen/fits.py").read_text() == fits
    assert (tmp_path / "gen/wide.py").read_text().startswith("xy = [\n")


def test_an_edited_file_is_named_and_written_again(out: Path) -> None:
    (out / "a/types.py").write_text("mine")
    assert compare(out, TEXTS).edited == ("a/types.py",)
    assert put(out, TEXTS) == WriteReport(written=("a/types.py",), edited=("a/types.py",))
    assert (out / "a/types.py").read_text() == 'x = {"a": 1}\n'


def test_a_deleted_file_comes_back(out: Path) -> None:
    (out / "a/types.py").unlink()
    assert compare(out, TEXTS).missing == ("a/types.py",)
    assert put(out, TEXTS) == WriteReport(written=("a/types.py",))


def test_a_stale_file_goes_with_its_empty_folder_and_caches(out: Path) -> None:
    (out / "a/__pycache__").mkdir()
    (out / "a/__pycache__/types.pyc").write_text("")
    assert compare(out, {"__init__.py": ""}).stale == ("a/schemas.json", "a/types.py")
    report = put(out, {"__init__.py": ""})
    assert report.deleted == ("a/schemas.json", "a/types.py")
    assert sorted(file.name for file in out.iterdir()) == [".toolgen.json", "__init__.py"]


@pytest.mark.parametrize("mode", PycInvalidationMode)
def test_bytecode_without_the_time_of_its_file_is_refused(out: Path, mode: PycInvalidationMode) -> None:
    """Python would execute it, whatever the file beside it says or if it only names the file's digest."""
    file = out / "a/types.py"
    compiled = Path(str(py_compile.compile(str(file), doraise=True, invalidation_mode=mode)))
    if mode is PycInvalidationMode.TIMESTAMP:
        assert compare(out, TEXTS).is_current
        return
    for attempt in (compare, preview, put):
        with pytest.raises(ToolgenError, match=re.escape(f"{compiled}\n  hint: delete it")):
            attempt(out, TEXTS)
    compiled.write_bytes(b"")
    assert compare(out, TEXTS).is_current


def test_a_stale_file_that_was_edited_is_kept_and_named_each_time(out: Path) -> None:
    (out / "a/types.py").write_text("mine")
    for _ in range(2):
        assert put(out, {"__init__.py": ""}).retained == ("a/types.py",)
        assert (out / "a/types.py").read_text() == "mine"
    (out / "a/types.py").unlink()
    assert put(out, {"__init__.py": ""}) == WriteReport()
    assert compare(out, {"__init__.py": ""}).is_current


@pytest.mark.parametrize("place", ["notes.txt", "a/mine.py", "b/c/d.py"])
def test_a_file_of_somebody_else_is_refused_by_name(out: Path, place: str) -> None:
    (out / place).parent.mkdir(parents=True, exist_ok=True)
    (out / place).write_text("mine")
    before = state(out)
    with pytest.raises(ToolgenError, match=place):
        put(out, TEXTS | {"new.py": ""})
    assert state(out) == before


def test_a_folder_without_manifest_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("")
    with pytest.raises(ToolgenError, match="did not write"):
        put(tmp_path, TEXTS)
    assert [file.name for file in tmp_path.iterdir()] == ["__init__.py"]


def test_an_unrecorded_file_at_a_planned_place_is_refused_unless_it_is_the_same(out: Path) -> None:
    texts = TEXTS | {"new.py": "x=1\n"}
    (out / "new.py").write_text("mine")
    before = state(out)
    with pytest.raises(ToolgenError, match=r"new\.py"):
        put(out, texts)
    assert state(out) == before
    (out / "new.py").write_text("x = 1\n")
    assert compare(out, texts).unrecorded == ("new.py",)
    assert put(out, texts) == WriteReport()
    assert compare(out, texts).is_current


def test_caches_and_an_empty_folder_are_nobodys(tmp_path: Path) -> None:
    (tmp_path / "gen/.mypy_cache").mkdir(parents=True)
    (tmp_path / "gen/.mypy_cache/x").write_text("")
    put(tmp_path / "gen", TEXTS)
    assert compare(tmp_path / "gen", TEXTS).is_current


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<<<<<<< ours", "not a manifest.*\n.*delete its folder"),
        ('{"format": 3}', "not a manifest"),
        ('{"format": 3, "design": "d", "files": {"../x": {"written": "2"}}}', "not a manifest"),
    ],
)
def test_a_manifest_of_no_use_changes_nothing(out: Path, text: str, message: str) -> None:
    (out / ".toolgen.json").write_text(text)
    before = state(out)
    with pytest.raises(ToolgenError, match=message):
        put(out, {"__init__.py": ""})
    assert state(out) == before


def test_out_may_not_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "gen").write_text("")
    with pytest.raises(ToolgenError, match="not a folder"):
        put(tmp_path / "gen", TEXTS)


def test_a_refused_move_puts_everything_back(out: Path) -> None:
    """An empty folder stands where the last file goes, after all others were moved."""
    (out / "z.py").mkdir()
    stub = out.parent / "executors/new/stub.py"
    before = state(out.parent)
    with pytest.raises(ToolgenError, match="nothing was changed"):
        put(out, {"a/types.py": "y=1\n", "b/new.py": "", "z.py": ""}, stubs={stub: "x=1\n"})
    assert state(out.parent) == before
    (out / "z.py").rmdir()
    put(out, {"a/types.py": "y=1\n", "b/new.py": "", "z.py": ""}, stubs={stub: "x=1\n"})
    assert stub.read_text() == "x = 1\n"


def test_a_place_that_is_no_folder_changes_nothing(out: Path) -> None:
    (out.parent / "executors").write_text("a file")
    before = state(out.parent)
    with pytest.raises(ToolgenError, match=r"cannot write .*executors"):
        put(out, {"__init__.py": "x=1\n"}, stubs={out.parent / "executors/a.py": ""})
    assert state(out.parent) == before


def test_text_that_ruff_refuses_is_our_bug_and_changes_nothing(out: Path) -> None:
    before = state(out)
    with pytest.raises(RuntimeError, match="Failed to parse"):
        put(out, TEXTS | {"a/types.py": "def"})
    assert state(out) == before


@pytest.mark.exhaustive
def test_a_full_disk_changes_nothing(out: Path) -> None:
    """The limit on file sizes makes every larger write fail, as a full disk does."""
    before = state(out)
    program = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from toolgen.codegen.write import write\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "write(Path(sys.argv[1]), {'b.json': '{}', 'c.json': 'x' * 10_000}, design='app.design')\n"
    )
    done = subprocess.run([sys.executable, "-c", program, out], capture_output=True, text=True)
    assert "ToolgenError: cannot write" in done.stderr
    assert state(out) == before


def test_a_preview_says_what_would_move_and_touches_nothing(out: Path) -> None:
    (out / "a/types.py").write_text("mine")
    mine, stub = out.parent / "mine.py", out.parent / "stub.py"
    mine.write_text("mine")
    before = state(out.parent)
    changes = preview(
        out,
        {"__init__.py": "", "a/types.py": "x=2\n", "b.py": "y=1\n"},
        stubs={stub: "z=1\n"},
        edits={mine: Edit(old=b"mine", new=b"more")},
    )
    assert changes == {
        out / "a/types.py": Edit(old=b"mine", new=b"x = 2\n"),
        out / "b.py": Edit(new=b"y = 1\n"),
        out / "a/schemas.json": Edit(old=b'{ "a":1}\n'),
        stub: Edit(new=b"z = 1\n"),
        mine: Edit(old=b"mine", new=b"more"),
    }
    assert state(out.parent) == before
    assert preview(out, TEXTS) == {out / "a/types.py": Edit(old=b"mine", new=b'x = {"a": 1}\n')}


def test_what_an_author_wrote_meanwhile_is_not_lost(out: Path) -> None:
    """Both places were seen differently when the run was planned."""
    mine, stub = out.parent / "mine.py", out.parent / "stub.py"
    mine.write_text("newer")
    stub.write_text("mine")
    before = state(out.parent)
    with pytest.raises(ToolgenError, match=r"stub\.py was changed"):
        put(out, TEXTS | {"b.py": ""}, stubs={stub: "z=1\n"})
    with pytest.raises(ToolgenError, match=r"mine\.py was changed"):
        write(out, TEXTS | {"b.py": ""}, design="app.design", edits={mine: Edit(old=b"older", new=b"more")})
    assert state(out.parent) == before


def test_a_name_that_the_disk_cannot_hold_changes_nothing(out: Path) -> None:
    before = state(out)
    with pytest.raises(ToolgenError, match=r"File name too long\n  hint: use shorter names"):
        put(out, TEXTS | {f"{'x' * 260}.py": ""})
    assert state(out) == before
    with pytest.raises(ToolgenError, match="use shorter names"):
        compare(out.parent / ("x" * 300), TEXTS)


def test_the_first_run_appears_at_once(tmp_path: Path) -> None:
    out = tmp_path / "deep/er/gen"
    assert put(out, TEXTS).written == tuple(TEXTS)
    assert out.stat().st_mode & 0o777 == 0o777 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_staging_folder_that_another_run_has_swept_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That run saw it when it was still empty."""
    made, swept = tempfile.mkdtemp, list[str]()

    def mkdtemp(**arguments: str) -> str:
        folder = made(**arguments)
        if not swept:
            os.rmdir(folder)
            swept.append(folder)
        return folder

    monkeypatch.setattr(tempfile, "mkdtemp", mkdtemp)
    put(tmp_path / "gen", TEXTS)
    assert (len(swept), [file.name for file in tmp_path.iterdir()]) == (1, ["gen"])
