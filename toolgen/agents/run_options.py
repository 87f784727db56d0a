"""What a client may say of a run that it starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from toolgen.contract.policy import RunPolicy


class RunOptions(TypedDict, total=False):
    """Arguments of `AgentClient.start`, which says what they mean; each may be left out."""

    run_id: str
    labels: Mapping[str, str] | None
    requested_by: str
    policy: RunPolicy | None
    allowed_tags: Sequence[str]
    denied_tags: Sequence[str]
    restrict_to_tool: str
