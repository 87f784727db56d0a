"""Every character of Unicode that nobody sees is escaped where text is shown."""

from __future__ import annotations

import sys
import unicodedata

from toolgen.contract.printable import printable


def test_every_character_that_nobody_sees_is_escaped() -> None:
    """Of the categories Cc, Cf, Cs, Co, Cn, Zl, Zp and Zs only the space is printed as it is."""
    left = [chr(code) for code in range(sys.maxunicode + 1) if printable(chr(code)) == chr(code)]
    assert {unicodedata.category(char)[0] for char in left} == set("LMNPS") | {"Z"}
    assert [char for char in left if unicodedata.category(char)[0] == "Z"] == [" "]
