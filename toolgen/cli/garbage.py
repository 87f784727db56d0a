"""How often Python looks for garbage: in a command, while it reads and writes a design, and in a server."""

from __future__ import annotations

import atexit
import gc
import sys
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import IOBase
from types import AsyncGeneratorType, CoroutineType, FunctionType, GeneratorType, ModuleType
from typing import Final

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
    _phases["end"] = gc.get_freeze_count()


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
    if gc.isenabled() and is_ours and not is_left:
        gc.collect()  # as Python does, before any module is taken down
        is_taken_down = len(sys._current_frames()) == 1 and _take_down()
        gc.disable()
        if is_taken_down:
            return
    gc.unfreeze()


def _take_down() -> bool:
    """Remove the modules of the author's code, and return whether all that was defined in them is gone.

    What something frozen holds, such as a cache, stays, and Python has to take down everything.
    """
    if (names := _authors_modules()) is None:
        return False
    for clear in getattr(typing, "_cleanups", ()):  # `typing` remembers each class of an annotation
        clear()
    for name in names:
        sys.modules.pop(name, None)
    gc.collect()
    left = [each for each in gc.get_objects() if _may_end(each) or _module_of(each) in names]
    sys.modules.update({_module_of(each): each for each in left if isinstance(each, ModuleType)})
    return not left


def _authors_modules() -> set[str] | None:
    """Return the names of the modules that are not frozen, without those of packages that were begun before.

    None where more objects would be looked through than the end of the interpreter takes.
    """
    objects = gc.get_objects()  # those that are not frozen
    if len(objects) > _MOST_OBJECTS:
        return None
    later = {id(each) for each in objects if isinstance(each, ModuleType)}
    modules: Mapping[str, object] = sys.modules
    frozen = [
        name for name, each in modules.items() if isinstance(each, ModuleType) and id(each) not in later
    ]
    others = {*sys.stdlib_module_names, *(name.partition(".")[0] for name in frozen)}
    return {name for name in modules if name.partition(".")[0] not in others}


def _may_end(value: object) -> bool:
    """Return whether a value does something when it is freed, whoever has its class: writes, or goes on."""
    return isinstance(value, IOBase | GeneratorType | CoroutineType | AsyncGeneratorType)


def _module_of(value: object) -> str:
    """Return the name of the module that a value is or was defined in; empty of one that is no definition."""
    name: object = ""
    if isinstance(value, ModuleType):
        name = vars(value).get("__name__")
    elif isinstance(value, FunctionType | type):
        name = getattr(value, "__module__", "")
    return name if isinstance(name, str) else ""


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
