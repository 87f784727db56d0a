"""Files of stores across processes: opened at once, forked, limited, left open, killed."""

from __future__ import annotations

import asyncio
import gc
import os
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

from tests.conftest import surroundings
from tests.runtime.store_files import STORES, adding, notes, texts
from tests.runtime.test_store_files import files
from toolgen.capabilities import FileArtifactStore


def script(code: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    """Start a process that has the names of `store_files`."""
    names = "from tests.runtime.store_files import *\n"
    command = [sys.executable, "-c", names + textwrap.dedent(code), *arguments]
    return subprocess.Popen(command, text=True, env=surroundings(), **options)


def has_open(process: subprocess.Popen[str], path: Path) -> bool:
    """Return whether a process has a file open, or has ended."""
    try:
        opened = [os.readlink(link) for link in Path(f"/proc/{process.pid}/fd").iterdir()]
    except FileNotFoundError:  # it has closed one of them meanwhile
        return False
    return str(path) in opened or process.poll() is not None


def test_six_processes_open_new_files_that_another_one_creates(tmp_path: Path) -> None:
    """Where another process writes, SQLite refuses the WAL mode at once, whatever its `busy_timeout`."""
    code = """
    print(flush=True)
    input()
    for name, store in STORES.items():
        store(Path(sys.argv[1], name))
    print("opened")
    """
    writers = [sqlite3.connect(tmp_path / name, isolation_level=None) for name in STORES]
    for writer in writers:
        writer.execute("BEGIN IMMEDIATE")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    processes = [script(code, str(tmp_path), **pipes) for _ in range(6)]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    for process in processes:
        assert process.stdin is not None
        print(file=process.stdin, flush=True)
    for process in processes:
        while not has_open(process, tmp_path / "state"):
            os.sched_yield()
    for writer in writers:
        writer.close()
    assert [process.communicate()[0] for process in processes] == ["opened\n"] * 6


def test_turns_open_no_connections(tmp_path: Path) -> None:
    """There is one for reading and one for writing, which are kept."""
    code = """
    from tests.agents.tools import agent, calling, function_toolset, running
    from toolgen.runtime import ToolContext
    from toolgen.agents import ScriptedPlanner, agents_of
    from toolgen.capabilities import StateCapability

    opened = []
    sys.addaudithook(lambda name, given: opened.append(name) if name == "sqlite3.connect" else None)

    async def count(ctx: ToolContext) -> int:
        "Count."
        ctx.state.add("session:n", 1)
        return await ctx.state.get("session:n")

    async def main(path):
        planner = ScriptedPlanner(*[[calling("count"), "done"]] * 4)
        one = agent("x.agent", planner, function_toolset("x.tools", [count]))
        sessions, states = SqliteSessionStore(path / "a.db"), SqliteStateStore(path / "b.db")
        options = {"sessions": sessions, "capabilities": [StateCapability(states)]}
        async with running(one, **options) as (runtime, _):
            for _ in range(4):
                assert (await agents_of(runtime).client("x.agent").run("Hi.", session_id="s")).text == "done"
                print(len(opened))

    asyncio.run(main(Path(sys.argv[1])))
    """
    printed, _ = script(code, str(tmp_path), stdout=subprocess.PIPE).communicate()
    assert printed.split() == ["4"] * 4


def test_a_limit_of_file_sizes_says_so(tmp_path: Path) -> None:
    code = """
    import resource
    from toolgen.stores import StoreFullError

    async def main(file):
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
        try:
            await file.write(adding("x" * 200_000))
        except StoreFullError as error:
            print(error.hint)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        await file.write(adding("a"))
        print(await file.read(texts))

    asyncio.run(main(notes(Path(sys.argv[1]))))
    """
    printed, _ = script(code, str(tmp_path), stdout=subprocess.PIPE).communicate()
    assert printed.splitlines() == ["free space on its disk, or raise the quota, and try again", "['a']"]


def test_a_forked_process_opens_the_file_anew(tmp_path: Path) -> None:
    code = """
    import os, warnings
    warnings.simplefilter("ignore")  # newer Pythons warn of forks beside threads
    file = notes(Path(sys.argv[1]))
    asyncio.run(file.write(adding("before")))
    asyncio.run(file.read(texts))
    child = os.fork()
    asyncio.run(file.write(adding("child" if child == 0 else "parent")))
    if child == 0:
        held = [line.split()[4] for line in Path("/proc/locks").read_text().splitlines() if "->" not in line]
        assert str(os.getpid()) in held, "it has locks of its own"
        sys.exit()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    print(sorted(asyncio.run(file.read(texts))))
    """
    printed, _ = script(code, str(tmp_path), stdout=subprocess.PIPE).communicate()
    assert printed.splitlines() == ["0", "['before', 'child', 'parent']"]


def test_a_process_that_was_forked_during_a_step_is_refused(tmp_path: Path) -> None:
    code = """
    import os, threading, warnings
    from toolgen.stores import StoreError
    warnings.simplefilter("ignore")
    file = notes(Path(sys.argv[1]))
    begun, go_on = threading.Event(), threading.Event()

    def step(database):
        begun.set()
        go_on.wait()

    thread = threading.Thread(target=lambda: asyncio.run(file.write(step)))
    thread.start()
    begun.wait()
    child = os.fork()
    if child == 0:
        try:
            asyncio.run(file.read(texts))
        except StoreError as error:
            print(error.hint, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    go_on.set()
    thread.join()
    """
    printed, _ = script(code, str(tmp_path), stdout=subprocess.PIPE).communicate()
    assert printed.splitlines() == ["open the store in the process that uses it"]


async def test_a_store_that_nobody_has_is_closed(tmp_path: Path) -> None:
    file = notes(tmp_path)
    await file.write(adding("a"))
    await file.read(texts)
    del file
    gc.collect()
    assert files(tmp_path) == ["notes.db"]


def test_a_process_that_ends_closes_its_stores(tmp_path: Path) -> None:
    code = """
    file = notes(Path(sys.argv[1]))
    asyncio.run(file.write(adding("a")))
    """
    assert script(code, str(tmp_path)).wait() == 0
    assert files(tmp_path) == ["notes.db"]


def test_a_folder_of_a_killed_process_has_what_was_acknowledged_and_nothing_by_halves(tmp_path: Path) -> None:
    code = """
    async def main(store):
        for number in range(1_000_000):
            name, data = f"a{number % 3}", str(number).encode() * 20_000
            version = await store.save("run/s/r", name, data, "text/plain", {}, 10**12)
            print(name, version, number, flush=True)

    asyncio.run(main(FileArtifactStore(sys.argv[1])))
    """
    folder = str(tmp_path / "artifacts")
    with script(code, folder, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        said = [process.stdout.readline().split() for _ in range(20)]
        process.kill()
    store = FileArtifactStore(folder)
    for name, version, number in said:
        found = asyncio.run(store.load("run/s/r", name, int(version)))
        assert found is not None
        assert found.data == number.encode() * 20_000
    for info in asyncio.run(store.listed("run/s/r")):
        assert asyncio.run(store.load("run/s/r", info.name, info.version)) is not None
    assert asyncio.run(store.forget("run/s/r")) >= 20
    assert list(Path(folder).iterdir()) == []
