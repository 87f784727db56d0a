"""`toolgen gen --watch` through many changes, broken designs and settings, and a design that hangs."""

from __future__ import annotations

import os

from tests.conftest import DESIGN, ProjectFolder
from tests.test_watch import watching
from toolgen.cli.config import EXAMPLES

TYPES = "app/gen/hall/toolsets/people/types.py"

UP_TO_DATE = "app/gen: up to date"


def test_a_change_of_the_design_is_generated_and_only_what_changed_is_said(project: ProjectFolder) -> None:
    with watching(project) as watch:
        first = watch.until("Ctrl-C stops")
        assert [line.split(": ")[0] for line in first] == [
            "app/gen",
            f"watching {project.path}; Ctrl-C stops",
        ]
        project.write("app/design.py", DESIGN)
        for length in ("41", "42", "43"):
            project.write("app/design.py", DESIGN.replace("max_length=40", f"max_length={length}"))
            assert watch.until(" written") == ["app/gen: 3 written"]
            assert f"max_length={length}" in (project.path / TYPES).read_text()
        project.write(TYPES, "mine\n")
        project.write("executors/hall/people.py", "")
        assert watch.stop() == []


def test_a_broken_design_is_survived(project: ProjectFolder) -> None:
    with watching(project) as watch:
        watch.until("Ctrl-C stops")
        project.write("app/design.py", DESIGN.replace("max_length=40", "default=3"))
        said = watch.until("nothing was generated")
        assert said[0].startswith("app/design.py:12:13: error: ")
        project.write("app/design.py", f"{DESIGN})\n")
        said = watch.until("SyntaxError: unmatched ')'")
        assert said[0] == "error: the module 'app.design' cannot be imported:"
        project.write("app/design.py", "import os\nos._exit(7)\n")
        assert watch.until("process")[-1] == "error: the design ended the process"
        project.write("app/design.py", DESIGN)
        assert watch.until("date") == [UP_TO_DATE]
        (project.path / "app/design.py").unlink()
        assert "the module 'app.design' was not found" in watch.until("or add the module")[0]
        project.write("app/design.py", DESIGN)
        assert watch.until("date") == [UP_TO_DATE]
        settings = (project.path / "pyproject.toml").read_text()
        project.write("pyproject.toml", settings.replace("out", "outt"))
        assert "has no key 'outt'" in watch.until([*EXAMPLES][-1])[0]  # the hint names the keys
        project.write("pyproject.toml", settings)
        assert watch.until("date") == [UP_TO_DATE]
        assert watch.stop() == []


def test_what_the_design_imports_and_reads_is_watched(project: ProjectFolder) -> None:
    text = "import json\nfrom pathlib import Path\nfrom app.parts import LENGTH\n"
    design = text + DESIGN.replace("max_length=40", "max_length=LENGTH").replace(
        '"Greet a person."', 'json.loads(Path("app/texts.json").read_text())["greet"]'
    )
    project.write("app/texts.json", '{"greet": "Greet a person."}')
    project.write("app/design.py", design)
    with watching(project) as watch:
        assert "No module named 'app.parts'" in watch.until("parts'")[-1]
        watch.until("Ctrl-C stops")
        project.write("app/parts.py", "LENGTH = 41\n")
        watch.until("new stub executors/hall/people.py")
        project.write("app/parts.py", "LENGTH = 42\n")
        watch.until("3 written")
        assert "max_length=42" in (project.path / TYPES).read_text()
        project.write("app/texts.json", '{"greet": "Greet somebody."}')
        watch.until(" written")
        assert "Greet somebody." in (project.path / "app/gen/tool_schemas.json").read_text()
        project.write("app/unrelated.txt", "")
        assert watch.stop() == []


def test_a_second_ctrl_c_ends_a_design_that_hangs(project: ProjectFolder) -> None:
    os.mkfifo(project.path / "gate")
    project.write("app/design.py", f"print('here', flush=True)\nopen('gate').read()\n{DESIGN}")
    with watching(project) as watch:
        watch.until("here")
        watch.interrupt()
        watch.until("press Ctrl-C again to stop it")
        assert watch.stop() == []
