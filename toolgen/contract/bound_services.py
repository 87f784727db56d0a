"""The services behind a generated executor: it names the methods that it calls, in `_service_methods`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def service_problems(executor: object) -> list[str]:
    """Return what the services lack that a generated executor calls, which has their methods by name.

    Executors that were generated before name none, and a service that nobody gave is no problem here: a
    generated client is made at its first use, and a class of the author may need none.
    """
    needed: Mapping[str, Sequence[str]] = getattr(executor, "_service_methods", {})
    services = {name: getattr(executor, "__dict__", {}).get(f"_{name}") for name in needed}
    classes = [(name, service) for name, service in services.items() if isinstance(service, type)]
    return [f"{name} is the class {class_.__name__}; give an instance" for name, class_ in classes] + [
        f"{name}={type(service).__name__}(…) has no method {method!r}, which bound tools call; add it"
        for name, service in services.items()
        for method in needed[name]
        if service is not None and not callable(getattr(service, method, None))
    ]
