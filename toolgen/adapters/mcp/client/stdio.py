"""A server process that exchanges lines over its standard input and output (MCP, Transports, stdio).

The SDK's own transport reads lines of any length, and ends without a reason at a byte that is not UTF-8.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final, TextIO

import anyio
import mcp_types as types
from anyio.abc import ObjectReceiveStream, ObjectSendStream, Process
from mcp.client.stdio import get_default_environment
from mcp.os.posix.utilities import terminate_posix_process_tree
from mcp.os.win32.utilities import (
    close_process_job,
    create_windows_process,
    get_windows_executable_command,
    terminate_windows_process_tree,
)
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from ..scanning import id_of, is_answer
from .errors import MCPServerError, shortened
from .intake import Intake
from .messages import LONGEST_MESSAGE, TOO_LONG, UNREADABLE

_GRACE_S: Final = 2.0
"""Seconds to exit after the end of input, then after SIGTERM to the process group; SIGKILL follows."""
_FLUSH_S: Final = 0.5
"""Seconds in which sent messages must reach the process."""
_POLL_S: Final = 0.01
_GONE: Final = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, OSError)


@asynccontextmanager
async def stdio_streams(
    command: str,
    args: Sequence[str],
    env: Mapping[str, str],
    cwd: str | Path | None,
    errlog: TextIO,
    intake: Intake,
) -> AsyncIterator[tuple[Any, Any]]:
    """Start a process, and yield its message streams; at the end stop it and its children.

    Raises:
        OSError: The process cannot be started.
        MCPServerError: In an exception group, if the process writes a line that is too long, a message that
            is not UTF-8, or more messages than `intake` admits.
    """
    process = await _started(command, args, {**get_default_environment(), **env}, cwd, errlog)
    read_in, read_out = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_in, write_out = anyio.create_memory_object_stream[SessionMessage](0)
    running = _Running(process, intake)
    async with AsyncExitStack() as streams, anyio.create_task_group() as group:
        for stream in (read_in, read_out, write_in, write_out):
            streams.push_async_callback(stream.aclose)
        group.start_soon(running.read, read_in)
        group.start_soon(running.write, write_out, read_in)
        try:
            yield read_out, write_in
        finally:
            with anyio.CancelScope(shield=True):
                read_out.close()
                write_in.close()
                await running.stop()
            group.cancel_scope.cancel()


class _Running:
    """A process, and the tasks that read its output and write its input."""

    def __init__(self, process: Process, intake: Intake) -> None:
        self._process = process
        self._intake = intake
        self._written = anyio.Event()
        self._is_faulty = False

    async def read(self, stream: ObjectSendStream[SessionMessage | Exception]) -> None:
        """Forward each line; afterwards discard further output, so that the process can end.

        Raises:
            MCPServerError: A line is too long, a message is not UTF-8, or there are too many of them.
        """
        try:
            with suppress(*_GONE):
                async with aclosing(_lines(self._process)) as lines:
                    async for line in lines:
                        message = self._intake.admitted(line)  # an empty line counts too
                        if message is not None and message.strip():
                            await stream.send(_message(message))
        except MCPServerError:
            self._is_faulty = True
            raise
        await stream.aclose()
        with suppress(*_GONE):
            assert self._process.stdout is not None
            while True:
                await self._process.stdout.receive()

    async def write(
        self,
        stream: ObjectReceiveStream[SessionMessage],
        answers: ObjectSendStream[SessionMessage | Exception],
    ) -> None:
        """Write each message as a line; if writing fails, end reading as well."""
        assert self._process.stdin is not None
        try:
            async for sent in stream:
                line = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                await self._process.stdin.send(line.encode() + b"\n")
        except _GONE:
            await answers.aclose()
        finally:
            self._written.set()

    async def stop(self) -> None:
        """Close the input, wait, and stop the process group (MCP 2025-11-25, Lifecycle, Shutdown)."""
        try:
            await self._stop()
        finally:  # a loop that closes meanwhile cancels despite the shield
            # A child that holds a pipe keeps the transport open, and no public API closes it.
            transport = getattr(getattr(self._process, "_process", None), "_transport", None)
            if transport is not None:
                with suppress(PermissionError):
                    transport.close()

    async def _stop(self) -> None:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        if not self._is_faulty:
            with anyio.move_on_after(_FLUSH_S):
                await self._written.wait()
        with suppress(*_GONE):
            await process.stdin.aclose()
        if not await self._has_ended(0.0 if self._is_faulty else _GRACE_S):
            await _end_tree(process)
            await self._has_ended(_GRACE_S)
        close_process_job(process)
        with suppress(*_GONE):
            await process.stdout.aclose()

    async def _has_ended(self, seconds: float) -> bool:
        """Return whether the process ends in time.

        `wait` would also wait for children that hold its pipes.
        """
        with anyio.move_on_after(seconds):
            while self._process.returncode is None:  # noqa: ASYNC110  # see above
                await anyio.sleep(_POLL_S)
        return self._process.returncode is not None


async def _lines(process: Process) -> AsyncGenerator[bytes]:
    """Yield each line without its newline; drop an incomplete last line.

    Raises:
        MCPServerError: A line is too long.
    """
    assert process.stdout is not None
    parts: list[bytes] = []
    size = 0
    async for chunk in process.stdout:
        first, *others = chunk.split(b"\n")
        parts.append(first)
        size += len(first)
        if size > LONGEST_MESSAGE:
            raise MCPServerError(f"it wrote a line of {TOO_LONG}")
        for part in others:
            yield b"".join(parts)
            parts, size = [part], len(part)


def _message(line: bytes) -> SessionMessage | Exception:
    """Return the message in a line, or an error with its beginning, because servers also write other text.

    Raises:
        MCPServerError: A message is not UTF-8; its receiver would wait forever.
    """
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        if line.lstrip().startswith(b"{"):
            raise MCPServerError(f"it wrote a message that is not UTF-8: {error.reason}") from None
        return ValueError(shortened(line.decode(errors="replace")))
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(text, by_name=False))
    except ValidationError:
        return _in_place_of(line) or ValueError(shortened(text))


def _in_place_of(line: bytes) -> SessionMessage | None:
    """Return an error for the request that an invalid line seems to answer; None for other lines.

    Without the error, the sender of the request would wait forever.
    """
    id_ = id_of(line)
    if id_ is None or b'"jsonrpc"' not in line or not is_answer(line):
        return None
    error = types.ErrorData(code=types.PARSE_ERROR, message=UNREADABLE)
    return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=id_, error=error))


async def _started(
    command: str, args: Sequence[str], env: dict[str, str], cwd: str | Path | None, errlog: TextIO
) -> Any:
    """Start the process as the leader of its own process group, and return it."""
    if sys.platform == "win32":
        program = await anyio.to_thread.run_sync(get_windows_executable_command, command)
        return await create_windows_process(program, list(args), env, errlog, cwd)
    return await anyio.open_process([command, *args], env=env, stderr=errlog, cwd=cwd, start_new_session=True)


async def _end_tree(process: Any) -> None:
    if sys.platform == "win32":
        await terminate_windows_process_tree(process)
    else:
        await terminate_posix_process_tree(process, _GRACE_S)
