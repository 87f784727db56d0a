"""Lexical forms: how a typed value is written in a JSON string.

Each form is one pattern in the common subset of Rust's regex and ECMA-262. Validators match it before they
parse; the JSON Schema contains it if no JSON Schema format is equivalent.
"""

from __future__ import annotations

from typing import Final

_DATE = r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_SECONDS = r"[0-9]+(?:\.[0-9]+)?S"

_TIME = f"(?:[0-9]+H(?:[0-9]+M)?(?:{_SECONDS})?|[0-9]+M(?:{_SECONDS})?|{_SECONDS})"

_PCT = "%[0-9A-Fa-f]{2}"
_PCHAR = rf"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|{_PCT})"
_H16 = "[0-9A-Fa-f]{1,4}"
_BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = rf"{_BYTE}(?:\.{_BYTE}){{3}}"
_LS32 = f"(?:{_H16}:{_H16}|{_IPV4})"
_IPV6 = "|".join(
    [
        f"(?:{_H16}:){{6}}{_LS32}",
        f"::(?:{_H16}:){{5}}{_LS32}",
        f"(?:{_H16})?::(?:{_H16}:){{4}}{_LS32}",
        f"(?:(?:{_H16}:){{0,1}}{_H16})?::(?:{_H16}:){{3}}{_LS32}",
        f"(?:(?:{_H16}:){{0,2}}{_H16})?::(?:{_H16}:){{2}}{_LS32}",
        f"(?:(?:{_H16}:){{0,3}}{_H16})?::{_H16}:{_LS32}",
        f"(?:(?:{_H16}:){{0,4}}{_H16})?::{_LS32}",
        f"(?:(?:{_H16}:){{0,5}}{_H16})?::{_H16}",
        f"(?:(?:{_H16}:){{0,6}}{_H16})?::",
    ]
)
_USERINFO = rf"(?:(?:[A-Za-z0-9._~!$&'()*+,;=:-]|{_PCT})*@)?"
_IP_FUTURE = r"[Vv][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+"
_HOST = rf"(?:\[(?:{_IPV6}|{_IP_FUTURE})\]|(?:[A-Za-z0-9._~!$&'()*+,;=-]|{_PCT})*)"
_ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"

DATE: Final = f"^{_DATE}$"
"""RFC 3339 full-date."""
DATETIME: Final = rf"^{_DATE}[Tt]{_CLOCK}:[0-5][0-9](?:\.[0-9]+)?(?:[Zz]|[+-]{_CLOCK})$"
"""RFC 3339 date-time; the offset is required."""
DURATION: Final = f"^-?P(?:[0-9]+D(?:T{_TIME})?|T{_TIME})$"
"""ISO 8601 duration of days and smaller units."""
UUID: Final = "^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$"
"""RFC 9562, the 8-4-4-4-12 form."""
BYTES: Final = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
"""RFC 4648 section 4: base64 with padding."""
DECIMAL: Final = r"^-?[0-9]+(?:\.[0-9]+)?$"
"""Decimal digits, no exponent."""
URL: Final = (
    rf"^[A-Za-z][A-Za-z0-9+.-]*:(?://{_USERINFO}{_HOST}(?::[0-9]*)?(?:/{_PCHAR}*)*"
    rf"|/(?:{_PCHAR}+(?:/{_PCHAR}*)*)?|{_PCHAR}+(?:/{_PCHAR}*)*|)"
    rf"(?:\?(?:{_PCHAR}|[/?])*)?(?:#(?:{_PCHAR}|[/?])*)?$"
)
"""RFC 3986 URI; the scheme is required."""

STRING_FORMATS: Final = {
    "email": rf"^{_ATOM}(?:\.{_ATOM})*@{_LABEL}(?:\.{_LABEL})*$",
    "hostname": rf"^{_LABEL}(?:\.{_LABEL})*$",
    "ipv4": f"^{_IPV4}$",
    "ipv6": f"^(?:{_IPV6})$",
}
"""Formats that a String can have (JSON Schema Validation 7.3), each with its pattern here."""

FORMAT_NAMES: Final = {
    DATE: ("date", "2026-01-31"),
    DATETIME: ("date-time", "2026-01-31T10:00:00Z"),
    DURATION: ("duration", "P1DT2H30M"),
    UUID: ("uuid", "123e4567-e89b-12d3-a456-426614174000"),
    BYTES: ("base64", "aGVsbG8="),
    DECIMAL: ("decimal", "12.50"),
    URL: ("uri", "https://example.org/path"),
    STRING_FORMATS["email"]: ("email", "ann@example.org"),
    STRING_FORMATS["hostname"]: ("hostname", "example.org"),
    STRING_FORMATS["ipv4"]: ("ipv4", "192.0.2.1"),
    STRING_FORMATS["ipv6"]: ("ipv6", "2001:db8::1"),
}
"""Name and an example of each form by its pattern, for messages."""

ASSERTED_FORMATS: Final = tuple(
    sorted([name for form, (name, _) in FORMAT_NAMES.items() if form not in (BYTES, DECIMAL, DURATION)])
)
"""Values of `format` in the schemas of designed types; codecs reject values in another form."""
