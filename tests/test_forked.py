"""A script in a fork that fails is named with what it wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from .forked import run_forked


@pytest.mark.parametrize(
    ("script", "code", "written"),
    [
        ("raise LookupError('no such house')", 1, "LookupError: no such house"),
        ("import sys; print('the house burns'); sys.exit(3)", 3, "the house burns"),
        ("import os; os.write(2, b'killed'); os.kill(os.getpid(), 9)", -9, "killed"),
    ],
)
def test_a_failure_has_the_exit_code_and_what_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, code: int, written: str
) -> None:
    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("fails.py").write_text(script)
    with pytest.raises(AssertionError, match=f"^fails.py ended with the exit code {code}:") as caught:
        run_forked("fails.py")
    assert written in str(caught.value)


def test_a_script_that_ends_well_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("good.py").write_text("import sys; assert sys.argv == ['good.py', 'a', 'b']")
    run_forked("good.py", "a", "b")
