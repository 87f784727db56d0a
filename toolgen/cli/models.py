"""Sets the models of agents from `[tool.toolgen.agents]` of a project."""

from __future__ import annotations

import difflib
import socket
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from toolgen.contract.errors import ToolgenError
from toolgen.contract.loopback import is_loopback
from toolgen.runtime import Runtime

from .config import Project

if TYPE_CHECKING:  # not imported for a project without agents
    from toolgen.agents import Agents

_CONNECT_S: Final = 2.0


def set_models(project: Project, runtime: Runtime) -> None:
    """Set the planners of a runtime's agents from the settings.

    Raises:
        ToolgenError: no agent, or more than one, has a name; its code already sets a planner; or the
            planner is unknown.
    """
    if not project.agents:
        return
    from toolgen.agents import agents_of

    agents = agents_of(runtime)
    for name, planner in project.agents.items():
        agent = agent_named(agents, name, f"{project.file}: [tool.toolgen.agents]: ")
        if agents.has_planner(agent):
            raise ToolgenError(
                f"{project.file}: [tool.toolgen.agents] has a model for {name!r}, whose code sets a planner",
                hint=f"remove this line, or planner=… in the code of the agent {agent}",
            )
        agents.override_planner(agent, planner)


def agent_named(agents: Agents, name: str, place: str = "") -> str:
    """Return the id of an agent by its id, or by the last part of it if that is unambiguous.

    Raises:
        ToolgenError: no agent has the name, or several have it; the message begins with `place`.
    """
    ids = agents.list()
    matching = [id_ for id_ in ids if name in (id_, id_.rpartition(".")[2])]
    if name in matching or len(matching) == 1:
        return name if name in matching else matching[0]
    if matching:
        raise ToolgenError(
            f"{place}several agents are named {name!r}: {', '.join(matching)}", hint=f'write "{matching[0]}"'
        )
    near = difflib.get_close_matches(name, [*ids, *(id_.rpartition(".")[2] for id_ in ids)], n=1)
    listed = f"its agents are {', '.join(ids)}" if ids else "it has no agents"
    raise ToolgenError(
        f"{place}the runtime has no agent {name!r}",
        hint=f"did you mean {near[0]!r}? {listed}" if near else listed,
    )


def ready_planners(runtime: Runtime) -> None:
    """Create the planners of all agents, so that mistakes show before a run.

    Raises:
        ToolgenError: an agent has no planner, or a package or a key of its model is missing.
    """
    if (agents := runtime.assembly.joined) is None:
        return
    from toolgen.agents import Agents

    if isinstance(agents, Agents):
        agents.ready_planners()


def require_server(model: str) -> None:
    """Check that the server of a model on this machine is running.

    A run would retry for minutes, which is right for a server that restarts, but not at a terminal.

    Raises:
        ToolgenError: the model has a server on this machine, and nothing listens there.
    """
    from toolgen.agents.planner.model_names import DEMO, ModelName

    url = "" if model == DEMO else ModelName.parse(model).url
    parsed = urlsplit(url)
    if not is_loopback(host := parsed.hostname or ""):
        return
    try:
        port = parsed.port or (443 if parsed.scheme == "https" else 80)
        socket.create_connection((host, port), _CONNECT_S).close()
    except (OSError, ValueError) as error:
        raise ToolgenError(
            f"no server answers at {url}, the address in {model}", hint="start it, or correct the address"
        ) from error
