"""`toolgen gen --typescript DIR`, and `typescript` in `[tool.toolgen]`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ProjectFolder, in_a_process

FILE = "web/api/hall/people.ts"


def configured(project: ProjectFolder) -> ProjectFolder:
    """Return the project with a folder for TypeScript."""
    file = project.path / "pyproject.toml"
    file.write_text(f'{file.read_text()}typescript = "web/api"\n')
    return project


def test_the_option_writes_a_second_tree(project: ProjectFolder) -> None:
    done = project.run("gen", "--typescript", "web/api")
    assert (done.code, done.out) == (0, "")
    assert done.err.endswith(" written, new stub executors/hall/people.py; web/api: 9 written\n")
    assert {FILE, "web/api/index.ts", "web/api/.toolgen.json"} <= project.files().keys()
    before = project.files()
    done = project.run("gen", "--typescript", "web/api")
    assert (done.code, done.err) == (0, "app/gen: up to date; web/api: up to date\n")
    assert project.files() == before


def test_without_it_nothing_of_it_is_written_or_checked(project: ProjectFolder) -> None:
    project.run("gen")
    assert not [name for name in project.files() if name.endswith(".ts")]
    assert project.run("gen", "--check").code == 0
    assert project.run("gen", "--check", "--typescript", "web").code == 1


@pytest.mark.exhaustive
def test_check_and_diff_cover_the_tree_of_the_settings(project: ProjectFolder) -> None:
    assert configured(project).run("gen").code == 0
    assert project.run("gen", "--check").err == "app/gen: up to date; web/api: up to date\n"
    (project.path / FILE).write_text("mine\n")
    done = project.run("gen", "--check")
    assert done.code == 1
    assert f"{FILE}: error: the file was edited [output-edited]" in done.err
    done = project.run("gen", "--diff")
    assert done.code == 1
    assert done.out.startswith(f"--- {FILE}\n+++ {FILE}\n")
    done = project.run("gen")
    assert f"{FILE}: was edited; overwritten" in done.err
    assert project.run("gen", "--check").code == 0


def test_a_file_that_is_no_longer_generated_is_removed(project: ProjectFolder) -> None:
    configured(project).run("gen")
    design = project.path / "app/design.py"
    design.write_text(design.read_text().replace('"people"', '"folk"'))
    done = project.run("gen")
    assert "web/api: 3 written, 1 deleted" in done.err
    assert FILE not in project.files()
    assert "web/api/hall/folk.ts" in project.files()


def test_files_of_the_author_are_not_touched(project: ProjectFolder) -> None:
    """Nor is anything else written then."""
    configured(project).write("web/api/mine.ts", "export {};\n")
    before = project.files()
    done = project.run("gen")
    assert done.code == 2
    assert "web/api holds files that toolgen did not write; nothing was changed" in done.err
    assert project.files() == before


def test_the_option_may_name_a_folder_elsewhere(
    project: ProjectFolder, tmp_path_factory: pytest.TempPathFactory
) -> None:
    web = tmp_path_factory.mktemp("web") / "api"
    assert project.run("gen", "--typescript", str(web)).code == 0
    assert (web / "index.ts").is_file()


@pytest.mark.parametrize("folder", ["app/gen", "app/gen/web", "app", "executors/web", "."])
def test_the_trees_and_the_stubs_stand_apart(project: ProjectFolder, folder: str) -> None:
    before = project.files()
    done = project.run("gen", "--typescript", folder)
    assert done.code == 2
    assert f"'typescript' ({folder}) overlap" in done.err
    assert project.files() == before


def test_the_folder_of_the_settings_is_inside_the_project(project: ProjectFolder) -> None:
    file: Path = project.path / "pyproject.toml"
    file.write_text(f'{file.read_text()}typescript = "../web"\n')
    done = project.run("gen")
    assert done.code == 2
    assert "typescript '../web' is not a folder inside the project" in done.err


@pytest.mark.exhaustive
def test_a_project_without_it_loads_nothing_of_it(project: ProjectFolder) -> None:
    code = (
        "import sys; from toolgen.cli import main; assert main(('gen',)) == 0; "
        "print([name for name in sys.modules if 'typescript' in name])"
    )
    assert in_a_process(project.path, "-c", code).stdout == "[]\n"
