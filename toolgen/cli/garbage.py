"""How often Python looks for garbage: in a command, while it reads and writes a design, and in a server."""

from __future__ import annotations

import atexit
import gc
import sys
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any, Final
from weakref import ReferenceType, ref

_THRESHOLD: Final = 1_000_000
"""New objects between two looks for cycles, which bounds what waits for one; Python's own default is 700."""
_OF_COMMANDS: Final = 100_000
"""The same in a command before its design or its runtime, whose imports are 70,000 objects; some 10 MB."""
OF_GENERATION: Final = 10_000_000
"""The same while code is generated, of which hardly anything is in a cycle: the objects of 30,000 tools."""
_OF_SERVERS: Final = (50_000, 40)
"""The same in a server at first, some 5 MB; and such looks for each one among what has outlived one."""
_MOST_OF_SERVERS: Final = 800_000
"""New objects between two looks of a server in which looks find next to nothing."""
_MUCH: Final = 0.05
"""The part of the new objects that a look has to find for the next ones not to be rarer."""
_MOST_OBJECTS: Final = 1_000_000
"""How many may be there after the imports; a look at many more takes as long as the interpreter's end."""
_OF_PYTHON: Final = gc.get_threshold()
"""Python's own threshold, read before the author's code is imported."""
_COLLECT: Final = compile("gc.collect()", "sys", "eval")
"""A look for garbage, as from the end of the interpreter: `sys` is named in a warning about what it finds."""
_NAMES_OF_MODULE: Final = vars(ModuleType)["__dict__"].__get__
"""The names of a module, also of one that is loaded when it is asked for an attribute."""
_phases: Final = dict[str, int]()
"""What this process has come to (`command`, `design`, `runtime`, `end`), with how many objects were frozen.

What is set here is set for a process.
"""


def begin_command() -> None:
    """Let Python look for cycles rarely in this process, which is a command.

    What it imports is no garbage, and each look at all of it takes a twentieth of `toolgen call`.
    """
    _phases["command"] = 0
    gc.set_threshold(_OF_COMMANDS, *_OF_PYTHON[1:])
    atexit.register(_end_command)  # first, so that it is called after what the author's code has registered


def begin_design() -> None:
    """Let Python look no more at what a command has imported; a process that is none is left as it is."""
    if _phases.keys() == {"command"}:
        gc.freeze()
        _phases["design"] = gc.get_freeze_count()


def begin_runtime() -> None:
    """Do as `begin_design`, and let Python look for cycles as often as it does by itself."""
    begin_design()
    if "design" in _phases and "runtime" not in _phases:
        _phases["runtime"] = gc.get_freeze_count()
        gc.set_threshold(*_OF_PYTHON)


def leave_objects() -> None:
    """Let this process end without a look at its objects, none of which the author's code has to finalize.

    Such looks, and giving each object back, are a fifth of a generation after a change.
    """
    gc.freeze()
    gc.disable()
    _phases["end"] = 0  # nobody reads how many, and to count them takes time


def _end_command() -> None:
    """Spare the end of the interpreter what toolgen imported, once nothing is left of the author's code.

    Python looks for cycles there three times and frees each object, in a sixth of the time of `toolgen call`.
    """
    if "end" in _phases:
        return
    if "toolgen.cli.python_errors" not in sys.modules:  # with which the author's code is imported and called
        gc.freeze()
        return
    is_left = "temporalio" in sys.modules  # `main` ends this process without the interpreter's end
    is_ours = 0 < gc.get_freeze_count() <= _phases.get("design", 0)  # nobody has unfrozen it, or frozen more
    if gc.isenabled() and is_ours and not is_left and len(sys._current_frames()) == 1:
        eval(_COLLECT)  # as Python does, before any module is taken down
        if _take_down():
            gc.disable()
            return
    gc.unfreeze()


def _take_down() -> bool:
    """Remove the modules of the author's code, and return whether all that was defined in them is gone.

    What something frozen holds, such as a cache, stays, and Python has to take down everything.
    """
    if (others := _packages_before()) is None:
        return False
    for clear in getattr(typing, "_cleanups", ()):  # `typing` remembers each class of an annotation
        clear()
    removed = _remove_modules(others)
    eval(_COLLECT)
    if not _is_left(others):
        return True
    sys.modules.update({name: each for name, weak in removed.items() if (each := weak()) is not None})
    return False


def _packages_before() -> set[str] | None:
    """Return the names of the packages of Python, and of those of which a module is frozen.

    None where more objects would be looked through than the end of the interpreter takes.
    """
    objects = gc.get_objects()  # those that are not frozen
    if len(objects) > _MOST_OBJECTS:
        return None
    later = {id(each) for each in objects if issubclass(type(each), ModuleType)}
    modules: Mapping[str, object] = sys.modules
    frozen = [
        name for name, each in modules.items() if issubclass(type(each), ModuleType) and id(each) not in later
    ]
    return {"", *sys.stdlib_module_names, *map(_package_of, frozen)}


def _remove_modules(others: set[str]) -> dict[str, ReferenceType[ModuleType]]:
    """Remove the modules of all packages but the others, and return them by name, as long as they live.

    As Python does, so that an import of one fails and does not execute it again.
    """
    modules: dict[str, Any] = sys.modules
    removed = dict[str, ReferenceType[ModuleType]]()
    for name in [name for name in modules if _package_of(name) not in others]:
        if issubclass(type(modules[name]), ModuleType):
            removed[name] = ref(modules[name])
        modules[name] = None
    return removed


def _is_left(others: set[str]) -> bool:
    """Return whether a definition of any package but the others lives, or what writes or goes on when freed.

    No object is asked for anything, as its class may answer by code of the author: `isinstance` asks too.
    """
    objects = gc.get_objects()
    classes = {id(type(each)): type(each) for each in objects}
    if any(map(_has_finalizer, classes.values())):
        return True
    defining = {key for key, each in classes.items() if issubclass(each, (ModuleType, FunctionType, type))}
    return any(_package_of(_module_of(each)) not in others for each in objects if id(type(each)) in defining)


def _has_finalizer(kind: type) -> bool:
    """Return whether objects of a class do something when they are freed: files write, generators go on."""
    try:
        type.__getattribute__(kind, "__del__")
    except AttributeError:
        return False
    return True


def _module_of(value: Any) -> str:
    """Return the name of the module that a definition is from; empty where it has none."""
    name: object
    if type(value) is FunctionType:
        name = value.__module__
    elif issubclass(type(value), ModuleType):
        name = _NAMES_OF_MODULE(value).get("__name__")
    else:
        name = type.__getattribute__(value, "__module__")
    return name if isinstance(name, str) else ""


def _package_of(module: str) -> str:
    return module.partition(".")[0]


@contextmanager
def rare_collections(threshold: int = _THRESHOLD) -> Iterator[None]:
    """Let Python look for cycles rarely: each look walks the objects of a design, which live to its end."""
    before = gc.get_threshold()
    gc.set_threshold(threshold, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def server_collections() -> Iterator[None]:
    """Let Python look for cycles less often while a server serves, and not among what it was started with.

    With 1,000 runs at once half of the processor's time is spent on looks at their objects, which live. So
    each look that finds next to nothing makes the next one half as frequent, and one that finds more sets the
    number back. What the author's code has set by `gc.set_threshold` stays as it is, before and meanwhile.
    """
    if (before := gc.get_threshold()) != _OF_PYTHON:
        yield
        return
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_OF_SERVERS, before[2])
    adapt = _adapter()
    gc.callbacks.append(adapt)
    try:
        yield
    finally:
        gc.callbacks.remove(adapt)
        gc.set_threshold(*before)
        gc.unfreeze()


def _adapter() -> Callable[[str, dict[str, int]], None]:
    """Return what sets after each look among new objects how many of them come before the next one."""
    own = gc.get_threshold()

    def adapt(phase: str, info: dict[str, int]) -> None:
        nonlocal own
        if phase == "stop" and info["generation"] == 0 and gc.get_threshold() == own:
            is_much = info["collected"] > _MUCH * own[0]
            own = (_OF_SERVERS[0] if is_much else min(2 * own[0], _MOST_OF_SERVERS), *own[1:])
            gc.set_threshold(*own)

    return adapt
