/** Lines or bars of an artifact, by uPlot. */

import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { ValueTable, type Json } from "../kit/values";
import { chartOf, type Chart } from "./chart";
import { texts } from "../texts";

const HEIGHT = 220;
const STROKES = ["--accent", "--planning", "--waiting", "--bad"] as const;

export default function ChartView({ document, bars }: { document: Json; bars: boolean }) {
  const place = useRef<HTMLDivElement>(null);
  const chart = chartOf(document);
  useEffect(() => {
    const element = place.current;
    if (element === null || chart === null) return;
    const plot = new uPlot(options(chart, bars, element.clientWidth || 480), [[...chart.places], ...chart.series.map((one) => [...one.values])] as uPlot.AlignedData, element);
    const observer = new ResizeObserver(() => { plot.setSize({ width: element.clientWidth, height: HEIGHT }); });
    observer.observe(element);
    return () => { observer.disconnect(); plot.destroy(); };
    // A document is drawn once: an artifact never changes.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [document, bars]);
  if (chart === null) return <ValueTable value={document} />;
  const what = texts.views.points(chart.series.map((one) => one.name).join(", "), chart.unit, chart.across, chart.places.length);
  return <figure className="view"><div ref={place} role="img" aria-label={what} /><figcaption className="muted small">{what}</figcaption></figure>;
}

function options(chart: Chart, bars: boolean, width: number): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (role: string) => style.getPropertyValue(role).trim();
  const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 }, font: `11px ${colour("--text")}` };
  const paths = bars ? uPlot.paths.bars?.({ size: [0.6, 60] }) : undefined;
  const isNamed = !chart.isTime && chart.across !== "";
  return {
    width, height: HEIGHT,
    scales: { x: { time: chart.isTime } },
    series: [
      { label: chart.across || texts.views.place },
      ...chart.series.map((one, index) => ({ label: one.name, stroke: colour(STROKES[index % STROKES.length] ?? "--accent"), width: 2, ...(bars ? { fill: colour("--accent-soft") } : {}), ...(paths === undefined ? {} : { paths }) })),
    ],
    axes: [
      { ...axis, ...(isNamed ? { values: (_plot: uPlot, splits: number[]) => splits.map((split) => (Number.isInteger(split) ? (chart.labels[split] ?? "") : "")) } : {}) },
      { ...axis, ...(chart.unit === "" ? {} : { label: chart.unit, labelSize: 18, labelFont: `11px ${colour("--text")}` }) },
    ],
  };
}
