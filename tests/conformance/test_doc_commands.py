"""Every command that the README and docs/ show succeeds."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_docs import ROOT, RUN, blocks, name_of

pytestmark = pytest.mark.costly


@pytest.mark.parametrize("file", RUN, ids=name_of)
def test_the_commands_work(file: Path) -> None:
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for _, text in blocks(file, "sh", "bash", "shell", "console"):
        for line in text.splitlines():
            command = shlex.split(line.removeprefix("$ "), comments=True)
            match command:
                case [] | ["cd", _] | ["git", "clone", *_] | ["pip", "install", "toolgen" | "toolgen[gen]"]:
                    continue
                case ["make", *targets]:
                    makefile = (ROOT / "Makefile").read_text("utf-8")
                    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets), line
                case _:
                    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
                    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
