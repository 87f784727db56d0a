"""Importing toolgen leaves the process of its host as it is: filters, hooks, handlers, collector, modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import in_a_process

PROGRAM = """\
import asyncio, atexit, builtins, gc, importlib, logging, os, pkgutil, signal, sys, threading, warnings

def named():
    import toolgen

    if sys.argv[1:]:
        return sys.argv[1:]
    modules = pkgutil.walk_packages(toolgen.__path__, "toolgen.")
    return [module.name for module in modules if not module.name.endswith("__main__")]

def imported(names):
    for name in names:
        importlib.import_module(name)

def state():
    return {
        "filters": list(warnings.filters),
        "builtins": {name: id(value) for name, value in vars(builtins).items() if name != "_"},
        "environment": (id(os.environ), type(os.environ), dict(os.environ)),
        "collector": (gc.isenabled(), gc.get_threshold(), gc.get_freeze_count(), len(gc.callbacks)),
        "signals": {each: signal.getsignal(each) for each in signal.valid_signals()},
        "finders": (list(map(id, sys.meta_path)), list(map(id, sys.path_hooks)), list(sys.path)),
        "hooks": (sys.excepthook, threading.excepthook, sys.displayhook, sys.unraisablehook),
        "tracing": (sys.gettrace(), sys.getprofile()),
        "bytecode": (sys.dont_write_bytecode, sys.pycache_prefix),
        "limits": (sys.getrecursionlimit(), sys.getswitchinterval(), sys.get_int_max_str_digits()),
        "log": (logging.root.level, list(logging.root.handlers), logging.getLoggerClass()),
        "loops": type(asyncio.get_event_loop_policy()),
        "at the end": atexit._ncallbacks(),
        "folder": os.getcwd(),
    }

def is_ours(name):
    return name.partition(".")[0] == "toolgen"
"""
"""Each module of others is imported before ours, which might change something too."""
OTHERS = f"""{PROGRAM}
imported(named())
print(*[name for name in sys.modules if not is_ours(name) and name != "__main__"], sep="\\n")
"""
OURS = f"""{PROGRAM}
for name in sys.stdin.read().split():
    try:
        importlib.import_module(name)
    except ImportError:  # made by another one
        pass
before, modules = state(), dict(sys.modules)
assert not any(map(is_ours, modules))
imported(named())
after = state()
print([name for name in before if before[name] != after[name]])
print([name for name, module in modules.items() if sys.modules.get(name) is not module])
"""


@pytest.mark.parametrize(
    "modules",
    [
        pytest.param(
            (
                "toolgen.runtime",
                "toolgen.calls.codec",
                "toolgen.dsl",
                "toolgen.cli.gen",
                "toolgen.cli.worker",
            ),
            id="plain",
        ),
        pytest.param((), id="all", marks=[pytest.mark.exhaustive, pytest.mark.costly]),
    ],
)
def test_an_import_of_any_module_changes_nothing_of_the_host(
    tmp_path: Path, modules: tuple[str, ...]
) -> None:
    """All modules import each framework that there is an adapter for."""
    others = in_a_process(tmp_path, "-c", OTHERS, *modules)
    assert others.returncode == 0, others.stderr
    assert "pydantic" in others.stdout.split()
    done = in_a_process(tmp_path, "-c", OURS, *modules, piped=others.stdout)
    assert (done.returncode, done.stdout) == (0, "[]\n[]\n"), done.stderr
