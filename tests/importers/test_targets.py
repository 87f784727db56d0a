"""Decisions of an author when the target that they were made for changes in the source."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.importers.changing_sources import (
    DESIGN,
    KEY,
    LIST,
    LOCK,
    PAY,
    SHOP,
    Shop,
    api,
    flat,
    oauth,
    operation,
)
from tests.importers.changing_sources import shop as shop
from toolgen.cli import main

from ..findings import findings_in

OTHER = "http://169.254.169.254/v1"


def test_an_accepted_address_is_not_accepted_when_it_changes(shop: Shop) -> None:
    shop.imported(api(LIST))
    shop.edit(("accepted=False", "accepted=True"))
    assert shop.run().code == 0
    shop.publish(api(LIST, server=OTHER))
    before = shop.design
    checked = shop.run("--check")
    assert (checked.code, shop.design) == (1, before)
    for done in (checked, shop.run()):
        assert done.code == 1
        assert (
            f"server:shop: the address was '{SHOP}' and is now '{OTHER}', which is not accepted" in done.err
        )
    assert f'http.Server("{OTHER}", accepted=False)' in shop.design
    shop.stays_open("server:shop")
    shop.edit(("accepted=False", "accepted=True"))
    assert shop.run("--check").code == 1
    assert shop.run().code == 1
    assert "accepted=False" in shop.design
    shop.resolve("server:shop")
    shop.edit(("accepted=False", "accepted=True"))
    assert (shop.run().code, "accepted=True" in shop.design) == (0, True)


@pytest.mark.exhaustive
def test_resolving_keeps_what_the_author_has_written_for_the_new_target(shop: Shop) -> None:
    shop.imported(api(LIST))
    shop.edit(("accepted=False", "accepted=True"))
    shop.publish(api(LIST, server=OTHER))
    assert shop.run().code == 1
    shop.edit(("accepted=False", "accepted=True"))
    shop.resolve("server:shop")
    assert f'http.Server("{OTHER}", accepted=True)' in shop.design
    shop.publish(api(LIST))
    assert shop.run().code == 1
    assert "accepted=True" not in shop.design


@pytest.mark.exhaustive
def test_a_server_is_known_by_its_address(shop: Shop) -> None:
    others = ["https://a.example", "https://b.example"]
    shop.imported(api(LIST, server=others))
    shop.edit(
        (
            'http.Server("https://a.example", accepted=False)',
            'http.Server("https://a.example", accepted=True)',
        )
    )
    shop.publish(api(LIST, server=["https://b.example", "https://a.example"]))
    assert shop.run().code == 1
    assert 'http.Server("https://a.example", accepted=True)' in shop.design
    assert 'http.Server("https://b.example", accepted=False)' in shop.design
    shop.stays_open("server:shop", "server:shop.2")
    shop.publish(api(LIST, server=["https://c.example", *others]))
    assert shop.run().code == 1
    assert re.findall(r'"https://(\w).example", accepted=(\w+)', shop.design) == [
        ("c", "False"),
        ("a", "True"),
        ("b", "False"),
    ]


A, B, C = (f"https://{each}.example" for each in "abc")


def _two_servers(first: str, second: str) -> dict[str, Any]:
    """Return an API that answers at two addresses."""
    other = operation("other", servers=[{"url": second}])
    return api(LIST, ("get", "/other", other), server=first)


def _accept_all(shop: Shop) -> None:
    Path(DESIGN).write_text(shop.design.replace("accepted=False", "accepted=True"), "utf-8")


@pytest.mark.exhaustive
@pytest.mark.parametrize("way", [[(B, A)], [(C, B), (B, A)], [(A, C), (B, C), (B, A)]])
@pytest.mark.parametrize("name", ['"shop"', '"store"'])
@pytest.mark.parametrize("options", [(), ("--accept-server",)])
def test_accepted_addresses_that_change_places_are_not_accepted(
    shop: Shop, way: list[tuple[str, str]], name: str, options: tuple[str, ...]
) -> None:
    shop.imported(_two_servers(A, B), *options)
    shop.edit(('d.Service(\n    "shop"', f"d.Service(\n    {name}"))
    _accept_all(shop)
    assert shop.run().code == 0
    for addresses in way:
        shop.publish(_two_servers(*addresses))
        assert shop.run().code == 1
    refused = [f'http.Server("{each}", accepted=False)' for each in (B, A)]
    for _ in range(2):
        assert [each for each in refused if each in shop.design] == refused
        _accept_all(shop)
        assert shop.run().code == 1
    assert shop.run("--resolve", "server:shop").code == 1
    _accept_all(shop)
    assert shop.run().code == 1
    assert refused[1] in shop.design
    if name == '"shop"':
        assert f'http.Server("{B}", accepted=True)' in shop.design
    shop.resolve("server:shop_2")
    _accept_all(shop)
    assert (shop.run().code, "accepted=False" in shop.design) == (0, False)


@pytest.mark.exhaustive
def test_variables_are_a_part_of_an_address(shop: Shop) -> None:
    def document(default: str) -> dict[str, Any]:
        value = api(LIST)
        value["servers"] = [{"url": "https://{host}", "variables": {"host": {"default": default}}}]
        return value

    shop.imported(document("shop.example"))
    shop.edit(("accepted=False", "accepted=True"))
    shop.publish(document("169.254.169.254"))
    assert shop.run().code == 1
    assert "accepted=True" not in shop.design


@pytest.mark.exhaustive
def test_an_address_of_the_author_stays_accepted(shop: Shop) -> None:
    shop.imported(api(LIST))
    shop.edit((f'"{SHOP}", accepted=False', '"http://127.0.0.1:8000", accepted=True'))
    shop.publish(api(LIST, server=OTHER))
    assert shop.run().code == 1
    assert 'http.Server("http://127.0.0.1:8000", accepted=True)' in shop.design
    shop.stays_open("server:shop")


@pytest.mark.exhaustive
def test_a_token_address_is_not_accepted_when_it_changes(shop: Shop) -> None:
    shop.imported(api(LIST, schemes=oauth("https://login.example/token")))
    text = shop.design
    flow = re.search(r"http.ClientCredentialsFlow\(.*?\)", text, re.DOTALL)
    assert flow is not None
    shop.edit((flow[0], flow[0].replace("accepted=False", "accepted=True")))
    shop.publish(api(LIST, schemes=oauth("http://169.254.169.254/token")))
    done = shop.run()
    assert done.code == 1
    assert "is now 'token http://169.254.169.254/token'" in done.err
    assert 'http.ClientCredentialsFlow(token="http://169.254.169.254/token", accepted=False)' in flat(
        shop.design
    )
    shop.stays_open("credential:login")
    shop.resolve("credential:login")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("server", "token"), [(OTHER, "https://login.example/token"), (SHOP, "http://169.254.169.254/token")]
)
def test_accept_server_is_for_the_addresses_of_then(shop: Shop, server: str, token: str) -> None:
    shop.imported(api(LIST, schemes=oauth("https://login.example/token")), "--accept-server")
    assert sorted(shop.lock["options"]["accept-server"]) == [SHOP, "token https://login.example/token"]
    assert (shop.run().code, "accepted" in shop.design) == (0, False)
    shop.publish(api(LIST, server=server, schemes=oauth(token)))
    assert shop.run().code == 1
    assert shop.design.count("accepted=False") == 1
    assert server in shop.lock["options"]["accept-server"] or token in str(shop.lock["options"])
    (place,) = shop.lock["open"]
    assert shop.run("openapi", "shop.json", "--accept-server").code == 1
    assert shop.design.count("accepted=False") == 1
    assert shop.run().code == 1
    shop.stays_open(place)
    assert shop.run("openapi", "shop.json", "--accept-server", "--resolve", place).code == 0
    assert shop.run().code == 0


@pytest.mark.exhaustive
def test_an_address_that_the_command_names_is_chosen(shop: Shop) -> None:
    shop.imported(api(LIST), "--server", "http://127.0.0.1:8000")
    assert shop.run("openapi", "shop.json", "--server", "http://127.0.0.1:9000").code == 0
    assert 'http.Server("http://127.0.0.1:9000")' in shop.design
    value = api(LIST, server="/internal")
    shop.publish(value)
    assert shop.run().code == 1
    assert 'http.Server("http://127.0.0.1:9000/internal", accepted=False)' in shop.design


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "scheme",
    [
        {"type": "apiKey", "in": "query", "name": "X-Other"},
        {"type": "apiKey", "in": "cookie", "name": "X-K"},
        {"type": "apiKey", "in": "header", "name": "X-Other"},
        {"type": "http", "scheme": "bearer"},
    ],
)
def test_a_key_that_moves_is_a_conflict(shop: Shop, scheme: dict[str, str]) -> None:
    shop.imported(api(LIST))
    shop.publish(api(LIST, schemes={"k": scheme}))
    done = shop.run()
    assert "credential:k: the credential was 'header X-K' and is now" in done.err
    shop.stays_open("credential:k")
    shop.resolve("credential:k")


_SCHEMES = {**KEY, "admin": {"type": "apiKey", "in": "header", "name": "X-A"}} | oauth(
    "https://login.example/token"
)


def _secured(*securities: list[dict[str, list[str]]], address: str = B) -> dict[str, Any]:
    """Return an API with a key of an administrator at one address, and other credentials at another one."""
    written = [
        ("get", f"/{name}", operation(name, security=each, servers=[{"url": address}]))
        for name, each in zip(("first", "second"), securities, strict=False)
    ]
    all_of = operation("all", security=[{name: []} for name in _SCHEMES])
    return api(("get", "/all", all_of), *written, server=A, schemes=_SCHEMES)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        ([[]], [[{"admin": []}]], "security:first"),
        ([[{"k": []}]], [[{"admin": []}]], "security:first"),
        ([[{"k": []}]], [[{"k": []}, {"admin": []}]], "security:first"),
        ([[{"k": []}]], [[{"k": [], "admin": []}]], "security:first"),
        ([[{"login": ["read"]}]], [[{"login": ["read", "admin"]}]], "security:first"),
        ([[{"k": []}], [{"admin": []}]], [[{"admin": []}], [{"admin": []}]], "security:first"),
        ([[]], [[], [{"admin": []}]], "security:second"),
        ([[{"k": []}]], [[{"k": []}, {}]], ""),
        ([[{"k": []}, {"admin": []}]], [[{"admin": []}]], ""),
        ([[{"k": []}]], [[]], ""),
        ([[{"k": []}]], [[{"k": []}], [{"k": []}]], ""),
    ],
)
def test_a_credential_is_sent_by_what_it_was_sent_by(
    shop: Shop, before: list[Any], after: list[Any], place: str
) -> None:
    shop.imported(_secured(*before))
    shop.publish(_secured(*after))
    if place:
        assert shop.run().code == 1
        shop.stays_open(place)
        shop.resolve(place)
    else:
        assert (shop.run().code, shop.lock["open"]) == (0, {})
    shop.publish(_secured(*after, address=C))
    assert shop.run().code == 1
    shop.stays_open("server:shop_2")


_OPEN: Final = (*LIST[:2], {**LIST[2], "security": []})


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (api(LIST), api(LIST, server=OTHER)),
        (api(LIST), api(LIST, schemes={"k": {"type": "apiKey", "in": "query", "name": "X-K"}})),
        (api(_OPEN, PAY), api(LIST, PAY)),
    ],
)
def test_no_code_is_generated_while_it_is_open_where_credentials_go(
    shop: Shop, before: dict[str, Any], after: dict[str, Any]
) -> None:
    shop.imported(before)
    Path("pyproject.toml").write_text('[tool.toolgen]\ndesign = "shop_design"\n', "utf-8")
    assert main(("gen",)) == 0
    code = {path: path.read_bytes() for path in Path("gen").rglob("*.py")}
    shop.publish(after)
    assert shop.run().code == 1
    for args in (("gen",), ("gen", "--check"), ("gen", "--diff")):
        sys.modules.pop("shop_design", None)
        assert main(args) == 2
        assert {path: path.read_bytes() for path in Path("gen").rglob("*.py")} == code
    shop.resolve(*shop.lock["open"])
    sys.modules.pop("shop_design", None)
    assert main(("gen",)) == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"lock": 1', '"lock": 2'),
        ('"kind": "openapi"', '"kind": "mcp-server"'),
        ('"options"', "options"),
        ('"targets"', '"goals"'),
        ('"open": {}', '"open": {"tool:pay": {}}'),
    ],
)
def test_a_lock_that_cannot_be_read_keeps_no_decision(shop: Shop, old: str, new: str) -> None:
    shop.imported(api(PAY))
    shop.edit(("accepted=False", "accepted=True"))
    shop.publish(api(PAY, server=OTHER))
    before = shop.design
    text = Path(LOCK).read_text("utf-8")
    assert old in text
    Path(LOCK).write_text(text.replace(old, new), "utf-8")
    for args in ((), ("--check",), ("openapi", "shop.json"), ("openapi", "shop.json", "--check")):
        done = shop.run(*args)
        assert (done.code, shop.design) == (2, before)
        assert "overwrite the design and its lock with --force" in flat(done.err)
    assert shop.run("openapi", "shop.json", "--force").code == 0
    assert f'http.Server("{OTHER}", accepted=False)' in shop.design


@pytest.mark.exhaustive
def test_a_place_that_is_not_open_is_refused(shop: Shop) -> None:
    shop.imported(api(PAY))
    shop.publish(api(PAY, server=OTHER))
    before = shop.design
    for args in ((), ("openapi", "shop.json")):
        done = shop.run(*args, "--resolve", "server:shop")
        assert (done.code, shop.design) == (2, before)
        assert "the lock has no such open conflict" in done.err
    assert shop.run("--check").code == 1
    assert shop.run("--resolve", "server:shop").code == 2
    assert shop.run().code == 1
    assert shop.run("--resolve", "tool:pay").code == 2
    assert shop.run("--check", "--resolve", "server:shop").code == 2
    shop.publish(api(PAY, server="http://169.254.169.254/v2"))
    assert shop.run("--resolve", "server:shop").code == 1
    shop.stays_open("server:shop")


@pytest.mark.exhaustive
def test_programs_get_open_conflicts_as_findings(shop: Shop) -> None:
    shop.imported(api(PAY))
    shop.edit(('d.BindTo("pay"))', 'd.BindTo("pay"), d.Confirm("Pay?"))'))
    shop.publish(api(("put", "/pay", operation("pay", ("query", "amount")))))
    shop.run()
    (found,) = findings_in(shop.run("--check", "--format", "json").out)
    assert (found["code"], found["tool"]) == ("import-conflict", "pay")
    assert 'd.Tool("pay"' in flat("\n".join(shop.design.splitlines()[found["line"] - 1 :][:2]))


@pytest.mark.exhaustive
def test_a_scheme_and_a_server_that_stay_are_no_conflict(shop: Shop) -> None:
    shop.imported(api(PAY, schemes={**KEY, **oauth("https://login.example/token")}))
    shop.edit(('"Do pay.", d.BindTo', '"Pay.", d.BindTo'))
    shop.publish(api(PAY, LIST, schemes={**KEY, **oauth("https://login.example/token")}))
    assert shop.run().code == 0
    assert json.loads(Path(LOCK).read_text("utf-8"))["open"] == {}
