"""Python values are written in the lexical forms that validators read."""

from __future__ import annotations

import datetime as dt
import re
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgen.contract.json_value import Json
from toolgen.shapes import lexical as forms
from toolgen.shapes.fields import ScalarKind, ScalarType
from toolgen.shapes.tree.validator import Validator
from toolgen.shapes.values import duration_text, plain


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "PT0S"),
        (0.5, "PT0.5S"),
        (-60, "-PT1M"),
        (3600, "PT1H"),
        (3601, "PT1H0M1S"),
        (86400 * 400, "P400D"),
        (93784.25, "P1DT2H3M4.25S"),
    ],
)
def test_durations_are_days_and_smaller(seconds: float, text: str) -> None:
    assert duration_text(dt.timedelta(seconds=seconds)) == text


@given(
    st.one_of(
        st.tuples(st.just("duration"), st.timedeltas()),
        st.tuples(st.just("decimal"), st.decimals(allow_nan=False, allow_infinity=False)),
        st.tuples(st.just("bytes"), st.binary()),
        st.tuples(st.just("datetime"), st.datetimes(timezones=st.just(dt.UTC))),
        st.tuples(st.just("date"), st.dates()),
        st.tuples(st.just("uuid"), st.uuids()),
    )
)
def test_every_value_is_read_back(case: tuple[ScalarKind, object]) -> None:
    kind, value = case
    assert Validator(ScalarType(kind=kind), {}).parse(plain(value)) == value


def test_containers_are_written_through() -> None:
    nested: Json = plain({"a": (dt.date(2026, 1, 31), [b"hi"]), "b": UUID(int=1)})
    assert nested == {"a": ["2026-01-31", ["aGk="]], "b": "00000000-0000-0000-0000-000000000001"}


@pytest.mark.parametrize("value", [{1: "x"}, object(), {"a": {1, 2}}])
def test_what_is_not_json_says_so(value: object) -> None:
    with pytest.raises(TypeError, match=r"cannot be serialized to JSON|cannot be a key of a JSON object"):
        plain(value)


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        (forms.URL, "http://[::1]:8080/a?b=c#d", "//host/path"),
        (forms.URL, "urn:isbn:0451450523", "http://a b"),
        (forms.STRING_FORMATS["ipv4"], "255.0.10.1", "256.1.1.1"),
        (forms.STRING_FORMATS["ipv6"], "::ffff:10.0.0.1", "1:2:3:4:5:6:7:8:9"),
        (forms.STRING_FORMATS["email"], "a.b+c@example.org", "a..b@example.org"),
        (forms.STRING_FORMATS["hostname"], "a-b.example", "-a.example"),
    ],
)
def test_forms_take_and_refuse(form: str, good: str, bad: str) -> None:
    assert re.fullmatch(form, good)
    assert not re.search(form, bad)
