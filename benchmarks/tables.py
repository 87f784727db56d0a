"""The tables of docs/performance.md, docs/import.md and docs/models.md, from `benchmarks/results.json`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from .goals import GOALS, Goal

ROOT: Final = Path(__file__).parents[1]
RESULTS: Final = ROOT / "benchmarks/results.json"
PAGE: Final = ROOT / "docs/performance.md"
IMPORT_PAGE: Final = ROOT / "docs/import.md"
MODEL_PAGE: Final = ROOT / "docs/models.md"
IMAGES: Final = ROOT / "docs/images"
CHARTS: Final = ("calls", "runs", "goals")
"""Each is drawn as SVG and as PNG."""
OPEN, CLOSE = "<!-- table: {} -->", "<!-- end of table -->"
COLUMNS: Final = ("20 devices", "1 device", "ping", "invalid", "1,000 at once")
OURS: Final = "**toolgen**, `Runtime.call`"
SURVIVES: Final = {
    "memory": "**toolgen**, in memory",
    "NORMAL": "**toolgen**, journal in SQLite, `NORMAL`",
    "FULL": "**toolgen**, journal in SQLite, `FULL`",
}
AGENTS: Final = {"langchain": ", on LangGraph"}
"""What executes the agents of a peer, if its name does not say it."""
BEYOND: Final = ", beyond pydantic"
Results = dict[str, Any]
Table = Callable[[Results], str]


def write_pages(results: Results) -> None:
    """Write the tables into their pages."""
    for page in PAGES:
        page.write_text(filled(page, results), "utf-8")


def filled(file: Path, results: Results) -> str:
    """Return the text of a page with each table between its markers."""
    page = file.read_text("utf-8")
    for name, table in PAGES[file].items():
        start = OPEN.format(name)
        pattern = re.compile(f"{re.escape(start)}\n.*?{re.escape(CLOSE)}", re.DOTALL)
        text = f"{start}\n\n{table(results)}\n{CLOSE}"
        page, count = pattern.subn(lambda _, text=text: text, page)  # type: ignore[misc] # text is its default
        assert count == 1, f"the page has {start} {count} times"
    return page


def peers(results: Results) -> str:
    """Return the calls of toolgen and its peers, the cheapest large call first."""
    notes: list[str] = []
    rows = [(results["calls"]["20 devices"]["ratio"], _our_row(results))]
    for name, peer in results["peers"].items():
        for way in peer["ways"]:
            cells = [f"{name}, {way['way']}", *(_cell(way, column, notes) for column in COLUMNS)]
            rows.append((way["ratios"]["20 devices"], [*cells, _said(way["invalid_text"])]))
    header = ["Call", *(f"{column}, two issues" if column == "invalid" else column for column in COLUMNS)]
    bare = ["bare pydantic", *("1.00" for _ in COLUMNS), "–"]
    ordered = [cells for _, cells in sorted(rows, key=lambda row: row[0])]
    return _table([*header, "Issues in the model's text"], [bare, *ordered]) + _footnotes(notes)


def _our_row(results: Results) -> list[str]:
    calls = results["calls"]
    return [
        OURS,
        *(f"**{_ratio(calls[column]['ratio'])}**" for column in COLUMNS),
        "both, as JSON with hints",
    ]


def _cell(way: Results, column: str, notes: list[str]) -> str:
    if column in way["ratios"]:
        return _ratio(way["ratios"][column])
    return f"–{_note(way['missing'][column], notes)}"


def _said(text: str) -> str:
    """Return how a text describes the two issues."""
    if not ("status" in text and "limit" in text):
        return "none, only an error" if text else "–"
    try:
        json.loads(text)
    except ValueError:
        return "both, as text"
    return "both, as JSON"


def runs(results: Results) -> str:
    """Return the runs of toolgen and its peers."""
    notes: list[str] = []
    rows = [[name, *_costs(results["runs"][kind], notes)] for kind, name in SURVIVES.items()]
    for name, peer in results["peers"].items():
        rows.append([f"{name}{AGENTS.get(name, '')}", *_costs(peer["run"], notes)])
    return _table(["Run", "Alone, ms", "20 at once, ms"], rows) + _footnotes(notes)


def _costs(run: Results, notes: list[str]) -> list[str]:
    if "missing" in run:
        return [f"–{_note(run['missing'], notes)}"] * 2
    return [f"{run['alone']:.1f}", f"{run['20 at once']:.1f}"]


def calls(results: Results) -> str:
    """Return the calls of toolgen alone."""
    newer = results["newer"] and results["newer"]["calls"]
    header = ["Call", "Compared with", "toolgen, µs", "pydantic, µs", "Ratio"]
    rows = []
    for name, row in results["calls"].items():
        times = [f"{row['ours_us']:,.1f}", f"{row['bare_us']:,.1f}"]
        cells = [name, row["against"], *times, _ratio(row["ratio"])]
        rows.append([*cells, _ratio(newer[name]["ratio"]) if newer else "–"])
    return _table([*header, f"Ratio, Python {_newer(results)}"], rows)


def mcp(results: Results) -> str:
    """Return the calls over MCP by the number of tools."""
    rows = [
        [count, f"{row['ours_us']:,.0f}", f"{row['other_us']:,.0f}", _ratio(row["ratio"])]
        for count, row in results["mcp"].items()
        if "against" not in count
    ]
    return _table(["Server with", "toolgen, µs", "SDK, µs", "Ratio"], rows)


def start(results: Results) -> str:
    """Return what generating, importing and starting takes."""
    rows = [
        [f"`toolgen gen` of {name}", f"{_shown(value, 's')} s"]
        for name, value in results["generation"].items()
    ]
    for name, value in results["sizes"].items():
        what, _, unit = name.rpartition(", ")
        rows.append([f"`toolgen gen`: {what}", f"{value:g} {unit}"])
    for name, value in results["start"].items():
        rows.append([f"`{name}`{BEYOND if name.startswith(('import', 'from')) else ''}", f"{value:.0f} ms"])
    rows += [
        [f"{name}: `{peer['import']['statement']}`{BEYOND}", f"{peer['import']['ms']:.0f} ms"]
        for name, peer in results["peers"].items()
    ]
    return _table(["Operation", "CPU time or size"], rows)


def imports(results: Results) -> str:
    """Return what documents of OpenAPI become, and what that costs."""
    rows = []
    for name, each in results["imports"]["documents"].items():
        ours, served = each["import"], each["serve"]
        counts = [each["operations"], ours.get("tools"), ours.get("losses")]
        costs = [_cost(ours), _cost(each["gen"])]
        rows.append([name, *map(_count, counts), *costs, _count(served.get("tools")), _cost(served)])
    header = ["document", "operations", "tools", "losses", "import", "gen", "FastMCP's tools", "FastMCP"]
    return _table(header, rows)


def _count(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def _cost(counted: Results) -> str:
    if "fails" in counted:
        return "fails"
    return f"{_shown(counted['seconds'], 's')} s, {counted['megabytes']:.0f} MB"


def goals(results: Results) -> str:
    """Return the goals beside what was measured."""
    return _table(["Row", "Goal", "Measured"], [_goal(goal, results) for goal in GOALS])


def _goal(goal: Goal, results: Results) -> list[str]:
    now, most = goal.now(results), f"≤ {goal.most:g} {goal.unit}"
    name = f"{goal.row} (Python {_newer(results)})" if goal.newer else goal.row
    if now is None:
        return [name, most, "not measured"]
    shown = f"{_shown(now, goal.unit)} {goal.unit}"
    if now <= goal.most:
        return [name, most, f"{shown}, reached"]
    return [name, most, f"**{shown}, missed**"]


def _newer(results: Results) -> str:
    return str(results["newer"]["python"]) if results["newer"] else "newer"


def _shown(value: float, unit: str) -> str:
    match unit:
        case "×":
            return _ratio(value)
        case "s":
            return f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"
        case _:
            return f"{value:.0f}" if value >= 10 else f"{value:.1f}"


def conditions(results: Results) -> str:
    """Return where and with what the results were measured."""
    load = results["load"]
    rows = [
        ["date", results["date"]],
        ["Python", f"{results['python']}, {results['system']}, {results['cores']} cores"],
        ["load average (1 min), before and after", f"{load['before'][0]:.2f}, {load['after'][0]:.2f}"],
        ["toolgen", _versions(results["versions"])],
        *([name, _versions(peer["versions"])] for name, peer in results["peers"].items()),
    ]
    return _table(["Condition", "Value"], rows)


def _versions(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in versions.items())


def models(results: Results) -> str:
    """Return how often a language model calls each system's tools rightly."""
    rows = []
    for row in results["models"]["systems"]:
        is_one = row["tools"] == 1
        right, *valid = (share(count, row["requests"]) for count in (row["right"], *row["valid"]))
        shown = ["–", *valid] if is_one else [right, valid[0], "–", "–"]
        rows.append([row["system"], str(row["tools"]), *shown])
    header = ["Schemas and errors", "Tools", "Right tool", "Valid at first", "After one repair", "After two"]
    return _table(header, rows) + f"\n{_measured(results['models'])}\n"


def descriptions(results: Results) -> str:
    """Return the same for two wordings of descriptions."""
    wordings = ("Imperative, or vague", "The rules of `toolgen lint`")
    rows = [
        [wording, share(row["right"], row["requests"]), share(row["valid"][0], row["requests"])]
        for wording, row in zip(wordings, results["models"]["descriptions"], strict=True)
    ]
    return _table(["Ten descriptions", "Right tool", "Valid at first"], rows)


def issues(results: Results) -> str:
    """Return how often a model repairs a call after each of two wordings of an issue."""
    wordings = ("The rule, as toolgen writes it", "The wrong value, then what to write")
    rows = [
        [wording, share(row["valid"][0], row["requests"])]
        for wording, row in zip(wordings, results["models"]["issues"], strict=True)
    ]
    return _table(["Ten issues", "Repaired at first"], rows)


def _measured(models: Results) -> str:
    sent = f"{models['systems'][0]['requests']} of {models['requests']} requests for each row"
    return f"{sent}; {models['model']}, {models['date']}; {_versions(models['versions'])}."


def share(passed: int, count: int) -> str:
    """Return a share in percent with its interval of 95 percent."""
    low, high = interval(passed, count)
    return f"{100 * passed / count:.0f} % ({100 * low:.0f} to {100 * high:.0f})"


def interval(passed: int, count: int) -> tuple[float, float]:
    """Return the interval of 95 percent by Wilson's formula of 1927."""
    z, ratio = 1.959964, passed / count
    scale = 1 + z * z / count
    middle = (ratio + z * z / (2 * count)) / scale
    half = z / scale * math.sqrt(ratio * (1 - ratio) / count + z * z / (4 * count * count))
    return max(0.0, middle - half), min(1.0, middle + half)


def _ratio(value: float) -> str:
    """Return a ratio with three digits."""
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def _note(reason: str, notes: list[str]) -> str:
    """Return the mark of a footnote; one reason has one."""
    if reason not in notes:
        notes.append(reason)
    return "¹²³⁴⁵⁶⁷⁸⁹"[notes.index(reason)]


def _footnotes(notes: list[str]) -> str:
    return "".join(
        f"\n{'¹²³⁴⁵⁶⁷⁸⁹'[number]} {reason[0].upper()}{reason[1:]}.\n" for number, reason in enumerate(notes)
    )


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


TABLES: Final[dict[str, Table]] = {
    "peers": peers,
    "runs": runs,
    "calls": calls,
    "mcp": mcp,
    "start": start,
    "goals": goals,
    "conditions": conditions,
}
MODEL_TABLES: Final[dict[str, Table]] = {"models": models, "descriptions": descriptions, "issues": issues}
PAGES: Final[dict[Path, dict[str, Table]]] = {
    PAGE: TABLES,
    IMPORT_PAGE: {"imports": imports},
    MODEL_PAGE: MODEL_TABLES,
}
