"""Requests that wait for their clients: they make room for others, and those that are worked on do not."""

from __future__ import annotations

from .book import Book


def test_of_requests_that_wait_for_their_clients_the_first_makes_room() -> None:
    book = Book(connections=4)
    for name in ("worked on", "first", "second"):
        assert book.connect(name, "mira") is None
    book.wait("first")
    book.wait("second")
    assert book.connect("new", "jonas") is None
    assert book.closed == ["first"]
    assert (book.admission.requests, book.admission.connections) == (3, 3)


def test_where_all_are_worked_on_a_further_request_is_refused() -> None:
    book = Book(connections=4)
    for name in ("first", "second", "third"):
        assert book.connect(name, "mira") is None
    with book.admission.waiting(book.clients["first"].place):
        pass  # what it waited for has come
    refused = book.connect("new", "jonas")
    assert refused is not None
    assert (refused.status, book.closed) == (503, [])


def test_one_whose_client_takes_nothing_makes_room_until_all_is_taken() -> None:
    book = Book(connections=3)
    for name in ("first", "second"):
        book.connect(name, "mira")
        book.write(name, 10)
    book.clients["first"].buffer = 0
    book.admission.written(book.clients["first"].place)
    assert book.connect("third", "jonas") is None
    assert book.closed == ["second"]
    assert book.connect("fourth", "jonas") is not None


def test_an_identity_makes_room_by_its_own_alone() -> None:
    book = Book(per_identity=1)
    for name, identity in (("other", "jonas"), ("own", "mira")):
        book.connect(name, identity)
        book.wait(name)
    assert book.connect("new", "mira") is None
    assert book.closed == ["own"]
    refused = book.connect("more", "mira")
    assert refused is not None
    assert (refused.status, book.closed) == (429, ["own"])


def test_a_connection_that_asks_again_does_not_make_room_for_itself() -> None:
    book = Book(connections=2)
    book.connect("only", "mira")
    book.write("only", 10)
    refused = book.admission.begin(book.clients["only"].place)
    assert refused is not None
    assert (refused.status, book.closed) == (503, [])
