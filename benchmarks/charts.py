"""Draws the charts of docs/performance.md; runs where matplotlib is, in `.bench/charts`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import matplotlib as mpl

mpl.use("agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .goals import GOALS
from .tables import AGENTS, IMAGES, RESULTS, SURVIVES

OURS, PEER, MISSED = "#1f6f8b", "#b8bec6", "#c8553d"
SETTINGS: Final[Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "toolgen",
}


def main() -> None:
    """Draw all charts."""
    results = json.loads(RESULTS.read_text("utf-8"))
    IMAGES.mkdir(exist_ok=True)
    with mpl.rc_context(SETTINGS):
        save("calls", calls(results))
        save("runs", runs(results))
        save("goals", goals(results))


def calls(results: dict[str, Any]) -> Figure:
    """Return three groups of bars: how many times bare pydantic a call costs."""
    figure, places = plt.subplots(1, 3, figsize=(11, 3.6), sharey=True)
    columns = {"20 devices": "a result of 20 devices", "ping": "ping", "invalid": "two issues"}
    ways = [("toolgen", {name: results["calls"][name]["ratio"] for name in columns})]
    for name, peer in results["peers"].items():
        ways += [(f"{name} {way['way']}".replace("`", ""), way["ratios"]) for way in peer["ways"]]
    ways.sort(key=lambda way: way[1]["20 devices"], reverse=True)
    for axes, (column, title) in zip(places, columns.items(), strict=True):
        values = {name: ratios.get(column) for name, ratios in ways}
        bars(axes, values, "toolgen", "{:.3g}×")
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_xlim(left=1, right=axes.get_xlim()[1] * 3)
        axes.set_title(title)
    places[1].set_xlabel("CPU time, as a multiple of bare pydantic in the same process (logarithmic)")
    return figure


def runs(results: dict[str, Any]) -> Figure:
    """Return the bars of runs, 20 at once."""
    figure, axes = plt.subplots(figsize=(7.5, 2.9))
    found: dict[str, float] = {f"toolgen, {kind}": results["runs"][kind]["20 at once"] for kind in SURVIVES}
    for name, peer in results["peers"].items():
        if "missing" not in peer["run"]:
            found[f"{name}{AGENTS.get(name, '')}"] = peer["run"]["20 at once"]
    slowest_first = sorted(found.items(), key=lambda item: item[1], reverse=True)
    bars(axes, dict(slowest_first), "toolgen", "{:.1f} ms")
    axes.set_xlim(right=axes.get_xlim()[1] * 1.1)
    axes.set_xlabel("CPU time per run of three rounds of three calls, 20 at once, ms")
    return figure


def goals(results: dict[str, Any]) -> Figure:
    """Return what each row costs as a share of its goal."""
    figure, axes = plt.subplots(figsize=(8, 5.6))
    shares = {goal.row.replace("`", ""): (goal.now(results) or 0) / goal.most for goal in reversed(GOALS)}
    colors = [OURS if share <= 1 else MISSED for share in shares.values()]
    axes.barh(list(shares), list(shares.values()), color=colors)
    for row, share in enumerate(shares.values()):
        axes.text(share, row, f" {share:.2f}" if share else " not measured", va="center")
    axes.set_xlim(right=axes.get_xlim()[1] * 1.05)
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xlabel("share of the goal (up to 1: reached)")
    return figure


def bars(axes: Axes, values: Mapping[str, float | None], ours: str, label: str) -> None:
    """Draw a bar each; what was not measured is a dash."""
    colors = [OURS if name.startswith(ours) else PEER for name in values]
    axes.barh(list(values), [value or 0 for value in values.values()], color=colors)
    for row, value in enumerate(values.values()):
        axes.text(
            value or 1, row, " –" if value is None else f" {label.format(value)}", va="center", fontsize=8
        )


def save(name: str, figure: Figure) -> None:
    figure.tight_layout()
    figure.savefig(IMAGES / f"{name}.svg", metadata={"Date": None})
    figure.savefig(IMAGES / f"{name}.png", dpi=90, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    main()
