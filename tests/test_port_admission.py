"""Which connection of a port is closed for a newer one, and which request is refused."""

from __future__ import annotations

from functools import partial

import pytest

from toolgen.adapters.ports.admission import ConnectionPlace, PortAdmission, PortLimits, Refused, peer_of

TOO_MANY = Refused(429, "you have too many open requests; try again later")


class Door:
    """An admission with a clock of its own; `closed` has the names of the connections that it closed."""

    def __init__(
        self, connections: int = 4, per_peer: int = 4, head_s: float = 10.0, write_s: float = 60.0
    ) -> None:
        self.now = 0.0
        self.closed: list[str] = []
        self.unsent: dict[str, int] = {}
        limits = PortLimits(
            connections=connections,
            per_address=per_peer,
            per_identity=per_peer,
            head_s=head_s,
            write_s=write_s,
            unsent_bytes=1_000_000,
        )
        self.admission = PortAdmission(limits, lambda: self.now)

    def open(self, name: str, peer: str = "192.0.2.1") -> ConnectionPlace:
        place = self.admission.enter(peer, lambda: self.closed.append(name), lambda: self.unsent.get(name, 0))
        self.admission.evict_idle(place)
        return place

    def begun(self, name: str, peer: str = "192.0.2.1") -> ConnectionPlace:
        place = self.open(name, peer)
        assert self.admission.begin(place) is None
        return place

    def answered(self, name: str, size: int, peer: str = "192.0.2.1") -> ConnectionPlace:
        """Return a place whose request has an answer of so many bytes, which are not taken."""
        place = self.begun(name, peer)
        self.unsent[name] = size
        self.admission.write(place)
        self.admission.end(place)
        return place


def test_the_oldest_idle_connection_is_closed_for_a_newer_one() -> None:
    door = Door(connections=3)
    door.begun("busy", "192.0.2.1")
    for name in "abcd":
        door.open(name, f"192.0.2.{ord(name)}")
    assert door.closed == ["a", "b"]
    assert door.admission.connections == 3


def test_a_connection_that_was_used_is_newer_than_one_that_was_not() -> None:
    door = Door(connections=2)
    used = door.open("used")
    door.open("silent")
    door.admission.begin(used)
    door.admission.end(used)
    door.open("new")
    assert door.closed == ["silent"]


def test_a_peer_closes_its_own_connections_alone() -> None:
    door = Door(connections=4, per_peer=2)
    door.open("other", "192.0.2.9")
    for n in range(1_000):
        door.open(f"c{n}")
    assert door.closed == [f"c{n}" for n in range(998)]


def test_what_came_with_a_connection_is_read_before_it_is_closed_for_another_one() -> None:
    door = Door(connections=2)
    places = [silent(door, str(n)) for n in range(5)]
    assert door.closed == []
    for place in places[:3]:
        door.admission.evict_idle(place)
    assert door.closed == ["0", "1", "2"]
    for place in places[3:]:
        door.admission.evict_idle(place)
    assert door.closed == ["0", "1", "2"]


def silent(door: Door, name: str) -> ConnectionPlace:
    """Return the place of a connection of which nothing was read yet."""
    return door.admission.enter("192.0.2.1", partial(door.closed.append, name), lambda: 0)


def test_a_request_whose_answer_is_not_taken_goes_on() -> None:
    door = Door(connections=3, head_s=10)
    slow = door.answered("slow", 7_000_000)
    door.begun("busy")
    assert door.admission.requests == 2
    door.open("more")
    door.open("newer")
    assert door.closed == ["more"]
    door.now = 11
    door.admission.close_timed_out()
    assert door.closed == ["more", "newer"]
    door.admission.written(slow)
    assert door.admission.requests == 1
    assert door.admission.begin(slow) is None
    door.admission.end(slow)
    door.now = 21
    door.admission.close_timed_out()
    assert door.closed == ["more", "newer", "slow"]


def test_a_peer_that_takes_nothing_is_closed_and_one_that_takes_some_is_not() -> None:
    door = Door(head_s=10, write_s=30)
    slow = door.answered("slow", 7_000)
    door.now = 5
    door.answered("silent", 7_000)
    assert door.admission.close_timed_out() == 15
    for door.now, door.unsent["slow"] in ((30, 6_000), (60, 5_999), (90, 1)):
        door.admission.close_timed_out()
    assert door.closed == ["silent"]
    assert (door.admission.connections, door.admission.requests) == (1, 1)
    door.admission.written(slow)
    assert door.admission.close_timed_out() == 100
    assert door.closed == ["silent"]


def test_a_connection_that_is_gone_leaves_no_answer_to_be_taken() -> None:
    door = Door(write_s=30)
    place = door.answered("a", 7)
    door.admission.leave(place)
    door.admission.write(place)
    door.admission.written(place)
    door.now = 31
    assert door.admission.close_timed_out() is None
    assert (door.closed, door.admission.requests) == ([], 0)


def test_late_heads_are_closed_and_requests_have_no_end() -> None:
    door = Door(head_s=10)
    door.begun("busy")
    door.open("a")
    door.now = 4
    door.open("b")
    assert door.admission.close_timed_out() == 10
    door.now = 10
    assert door.admission.close_timed_out() == 14
    assert door.closed == ["a"]
    door.now = 14
    assert door.admission.close_timed_out() == 24
    assert door.closed == ["a", "b"]


def test_nobody_is_looked_at_where_nobody_is() -> None:
    door = Door()
    place = door.begun("a")
    door.admission.leave(place)
    door.admission.leave(place)
    assert door.admission.close_timed_out() is None
    assert (door.admission.connections, door.admission.requests) == (0, 0)
    door.admission.end(place)
    assert door.admission.requests == 0


def test_requests_beyond_the_limits_are_refused_while_heads_still_have_places() -> None:
    door = Door(connections=24, per_peer=12)
    first = [door.begun("x", "192.0.2.1") for _ in range(11)]
    assert refused(door, "192.0.2.1") == 429
    others = [door.begun("x", "192.0.2.2") for _ in range(11)]
    assert refused(door, "192.0.2.3") == 503
    door.admission.end(first[0])
    assert door.admission.begin(first[0]) is None
    assert len(others) == 11
    assert door.closed == []


def refused(door: Door, peer: str) -> int:
    answer = door.admission.begin(door.open("more", peer))
    assert isinstance(answer, Refused)
    return answer.status


def test_a_connection_counts_for_the_identity_of_its_request_and_then_for_its_address() -> None:
    door = Door(connections=100, per_peer=3)
    pool = [door.begun(f"p{n}") for n in range(2)]
    assert refused(door, "192.0.2.1") == 429
    assert [door.admission.assign(place, "ann") for place in pool] == [None, None]
    pool += [door.begun("p2"), door.begun("p3")]
    assert [door.admission.assign(place, "ann") for place in pool] == [None, None, None, TOO_MANY]
    assert door.admission.assign(pool[3], "bob") is None
    for place in pool:
        door.admission.end(place)
    assert door.closed == ["more", "p0"], "the address has three"
    assert door.admission.begin(pool[3]) is None
    assert door.admission.assign(pool[3], "ann") is None


def test_a_connection_that_is_gone_counts_for_nobody() -> None:
    door = Door()
    place = door.begun("a")
    door.admission.leave(place)
    assert door.admission.assign(place, "ann") is None
    assert door.admission.begin(place) is None
    assert door.admission.requests == 0


@pytest.mark.parametrize(
    ("address", "peer"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3::1", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", "unknown"),
    ],
)
def test_a_machine_is_one_peer_whatever_address_of_its_network_it_has(address: str, peer: str) -> None:
    assert peer_of(address) == peer
