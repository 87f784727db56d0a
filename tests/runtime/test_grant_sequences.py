"""Random sequences of grants, calls, revocations, restarts, restored files and upgrades against a model.

The model knows what each grant covers. No call runs by a grant beyond that, and one that is covered runs.
"""

from __future__ import annotations

import asyncio
import random
import shutil
from collections.abc import Iterator
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.granting import META, SAFE, TOOL, Host, policy
from tests.selection import first
from toolgen.runtime import Ask, CallMeta, Deny, Runtime
from toolgen.waiting import BadAnswerError, UnknownGrantError, requester_may_not_approve

AT_ONCE = 50
"""Sequences of one exhaustive test; 100 tests of each place make 10,000."""
STEPS = 20
PATHS = {"/srv/a": "below", "/srv": "below", "/srv/a/b": "below", "/srv/../etc": "", "/srvx": "", "/etc": ""}
"""Paths, and whether they are below `/srv`."""
PATTERNS: dict[str, Any] = {
    "any": None,
    "below": {"/path": {"path_prefix": "/srv"}},
    "equal": {"/path": {"equal": "/etc"}},
    "one of": {"/path": {"one_of": ["/etc", "/srvx"]}},
}
VERSIONS: tuple[Any, ...] = (SAFE, {**SAFE, "open_world": False}, {})
"""Annotations of the tool; the last one is destructive."""
METAS = (
    *[META] * 12,
    replace(META, session_id="t"),
    replace(META, requested_by="jo"),
    replace(META, agent="x.helper"),
    replace(META, labels={"tenant": "b"}),
)


@dataclass
class Known:
    """A grant, as the model knows it."""

    meta: CallMeta
    version: int
    secret: bytes
    pattern: str
    uses: int
    expires_at: float
    used: int = 0
    is_over: bool = False
    """It is revoked, or its file is gone."""

    def covers(self, path: str) -> bool:
        return {
            "any": True,
            "below": PATHS[path] == "below",
            "equal": path == "/etc",
            "one of": path in ("/etc", "/srvx"),
        }[self.pattern]


class Sequence:
    """A host and the model of its grants."""

    def __init__(self, seed: int, path: Path | None) -> None:
        self.random = random.Random(seed)
        self.path = path
        self.host = Host(path)
        self.known: dict[str, Known] = {}
        self.version = 0
        self.answers = 0
        """Answers that the file has taken; a copy with fewer is older than its witness."""
        self.copy: int | None = None
        """Their number in the copy of the file."""
        self.calls = 0
        self.host.how = {"secret": bytes(16)}

    async def run(self) -> None:
        async with AsyncExitStack() as stack:
            runtime = await stack.enter_async_context(self.host.runtime())
            for _ in range(STEPS):
                step = self.random.choice(self.steps())
                if step in self.closed_steps():
                    await stack.aclose()
                    await step()
                    runtime = await stack.enter_async_context(self.host.runtime())
                else:
                    await step(runtime)

    def steps(self) -> list[Any]:
        steps = [self.grant, self.grant, self.call, self.call, self.call, self.call_at_once]
        steps += [self.revoke, self.pass_time]
        return steps if self.path is None else [*steps, *self.closed_steps()]

    def closed_steps(self) -> list[Any]:
        """Return the steps at which no process has the file."""
        return [self.restart, self.restore, self.keep_copy, self.upgrade]

    # Steps.

    async def grant(self, runtime: Runtime) -> None:
        self.host.clock.now += 0.5  # a question at the very time of a restored file grants nothing
        meta, path = self.random.choice(METAS), self.any_path()
        waiting = await self.made(runtime, meta, [path])
        if not waiting:
            return
        pattern = self.random.choice(("any", "any", *PATTERNS))
        uses, expires_s = self.random.randint(1, 3), self.random.choice((10.0, 60.0, 60.0))
        terms = {"uses": uses, "expires_s": expires_s, "pattern": PATTERNS[pattern]}
        answer: Any = {"approved": True, "grant": {key: value for key, value in terms.items() if value}}
        is_refused = self.host.options.get("rule") is not None or (self.version == 2 and pattern == "any")
        before = {grant.id for grant in await runtime.suspensions.grants(meta.session_id)}
        try:
            result = await runtime.suspensions.answer(waiting[0], answer, by="kim")
        except BadAnswerError:
            assert is_refused
            return
        assert not is_refused
        self.answers += 1
        if result.status == "denied":
            assert self.host.policy is not None
        (new,) = {grant.id for grant in await runtime.suspensions.grants(meta.session_id)} - before
        self.known[new] = Known(
            meta, self.version, self.secret, pattern, uses, self.host.clock.now + expires_s
        )

    async def call(self, runtime: Runtime) -> None:
        await self.made(runtime, self.random.choice(METAS), [self.any_path()])

    async def call_at_once(self, runtime: Runtime) -> None:
        await self.made(runtime, self.random.choice(METAS), [self.any_path()] * 4)

    async def revoke(self, runtime: Runtime) -> None:
        if self.known:
            id_ = self.random.choice(list(self.known))
            known = self.known[id_]
            with suppress(UnknownGrantError):  # the file is older than it
                await runtime.suspensions.revoke(id_)
            if not known.is_over and self.host.clock.now < known.expires_at:
                self.answers += 1  # a grant that is over already takes no further answer
            known.is_over = True

    async def pass_time(self, runtime: Runtime) -> None:
        self.host.clock.now += self.random.choice((1, 1, 10, 61))

    async def restart(self) -> None:
        """Open the file with what a host may change of a runtime."""
        self.host.how = {"secret": self.random.choice((*[bytes(16)] * 6, bytes(range(16))))}
        self.host.options = self.random.choice((*[{}] * 6, {"rule": requester_may_not_approve}))
        policies = (*[None] * 6, policy(Ask(question="?")), policy(Deny(message="no")))
        self.host.policy = self.random.choice(policies)

    async def upgrade(self) -> None:
        self.version = self.random.choice((0, 0, 0, 0, 1, 2))
        self.host.facts["annotations"] = VERSIONS[self.version]

    async def keep_copy(self) -> None:
        assert self.path is not None
        shutil.copy(self.path, self.path.with_suffix(".copy"))
        self.copy = self.answers

    async def restore(self) -> None:
        if self.copy is None:
            return
        assert self.path is not None
        shutil.copy(self.path.with_suffix(".copy"), self.path)
        if self.copy < self.answers:
            self.copy = -1  # it stays older than the witness, whatever comes
            for known in self.known.values():
                known.is_over = True

    def any_path(self) -> str:
        return self.random.choice(("/srv/a", "/srv/a", "/etc", *PATHS))

    # The model.

    @property
    def secret(self) -> bytes:
        return bytes(self.host.how["secret"])

    def counting(self, meta: CallMeta, path: str) -> Iterator[tuple[str, Known]]:
        """Yield the grants that cover a call now and have a use left."""
        for id_, known in self.known.items():
            is_its = (known.meta, known.version, known.secret) == (meta, self.version, self.secret)
            is_open = not known.is_over and known.used < known.uses and self.host.clock.now < known.expires_at
            if is_its and is_open and known.covers(path) and self.host.options.get("rule") is None:
                yield id_, known

    async def made(self, runtime: Runtime, meta: CallMeta, paths: list[str]) -> list[str]:
        """Make calls at the same time, check by which grants they ran, and return the tokens of others."""
        counting = dict(self.counting(meta, paths[0]))
        before = {grant.id: grant.used for grant in await runtime.suspensions.grants(meta.session_id)}
        written = len(self.host.disk.written)
        results = await asyncio.gather(*[runtime.call(TOOL, {"path": path}, meta) for path in paths])
        statuses = [result.status for result in results]
        ran = statuses.count("ok")
        assert len(self.host.disk.written) - written == ran
        for grant in await runtime.suspensions.grants(meta.session_id):
            if (new := grant.used - before[grant.id]) > 0:
                assert grant.id in counting, "a call ran beyond the terms of its grant"
                counting[grant.id].used += new
                self.answers += new
                ran -= new
                assert counting[grant.id].used <= counting[grant.id].uses
                assert grant.used == counting[grant.id].used
        assert ran == 0, "a call ran without a grant"
        if statuses[0] == "denied":
            assert statuses == ["denied"] * len(paths)
            return []
        assert ("ok" in statuses) == bool(counting)
        return [result.suspension.token for result in results if result.suspension is not None]


@pytest.mark.parametrize("at", first(range(101)))
@pytest.mark.parametrize("place", ["memory", "file"])
async def test_no_grant_is_used_beyond_its_terms(place: str, at: int, tmp_path: Path) -> None:
    for seed in range(at * AT_ONCE, at * AT_ONCE + (AT_ONCE if at else 5)):
        path = None if place == "memory" else tmp_path / f"{seed}.db"
        await Sequence(seed, path).run()
