"""Changes of the targets of a design between two imports."""

from __future__ import annotations

from collections.abc import Mapping


def changed_targets(before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the old and new targets of places that changed; a new server or credential counts as a change.

    If only the address of a request's server changed, only the place of the server is returned.
    """
    moved = moved_addresses(before, now)
    changed = {
        place: (was, now[place])
        for place, was in before.items()
        if place in now
        and now[place] not in (was, moved_target(was, moved))
        and not place.startswith("security:")
    }
    if any(place.startswith("server:") for place in before):
        new = (place for place in now if place not in before)
        changed |= {place: ("", now[place]) for place in new if place.startswith(("server:", "credential:"))}
    return changed


def moved_addresses(before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """Return the new addresses of servers by the old ones."""
    return {
        _url(was): _url(now[place])
        for place, was in before.items()
        if place.startswith("server:") and now.get(place, was) != was
    }


def moved_target(target: str, moved: Mapping[str, str]) -> str:
    """Return a request at the new address of its server."""
    verb, _, url = target.partition(" ")
    for old, new in moved.items():
        if url == old or url.startswith(f"{old}/"):
            return f"{verb} {new}{url.removeprefix(old)}"
    return target


def new_credentials(was: str, now: str, recorded: Mapping[str, str], moved: Mapping[str, str]) -> bool:
    """Return whether a method sends a credential that is new for it, or new for its address.

    New addresses and new credentials are conflicts of their own. `was` is empty for a new method.
    """
    sent = {
        (each, moved_target(target, moved).partition(" ")[2])
        for place, target in recorded.items()
        if place.startswith("security:")
        for each in target.partition(" ")[0].split("|")
    }
    old_credentials = was.partition(" ")[0].split("|") if was else [each for each, _ in sent]
    sets, _, address = now.partition(" ")
    if not any(to == address for _, to in sent):
        sent = {(each, address) for each in old_credentials}
    return any(
        (each not in old_credentials or (each, address) not in sent)
        and all(f"credential:{name}" in recorded for name in each.split("+") if name[0] not in "[(")
        for each in sets.split("|")
        if each != "none"
    )


def _url(address: str) -> str:
    return address.partition(",")[0]
