import { useEffect, useRef } from 'react';
import UPlot from 'uplot';
import { useLanguage } from '../../language/language.tsx';
import type { Series } from './series.ts';

const height = 200;

/** Draws a traffic series. The colours are those of the page's theme. @param label what the picture shows, for screen readers */
export default function Plot({ series, label }: { readonly series: Series; readonly label: string }) {
  const { f } = useLanguage();
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(undefined);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const draw = (): void => {
      plot.current?.destroy();
      plot.current = new UPlot(options(element.clientWidth, f.rate, f.zone), dataOf(series), element);
    };
    draw();
    const size = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height }));
    size.observe(element);
    const theme = new MutationObserver(draw);
    theme.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', draw);
    return () => {
      size.disconnect();
      theme.disconnect();
      scheme.removeEventListener('change', draw);
      plot.current?.destroy();
      plot.current = undefined;
    };
    // New data is set below, without drawing the axes anew.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [f]);
  useEffect(() => plot.current?.setData(dataOf(series)), [series]);
  return <div ref={frame} className='uplot-frame' role='img' aria-label={label} />;
}

/** Each value lasts until the next time: the last one until the end of its interval. */
function dataOf({ times, toVisitors, fromVisitors }: Series): UPlot.AlignedData {
  const [before = 0, last = 0] = times.slice(-2);
  return [[...times, 2 * last - before], [...toVisitors, toVisitors.at(-1) ?? 0], [...fromVisitors, fromVisitors.at(-1) ?? 0]];
}

function options(width: number, rate: (value: number) => string, zone: string): UPlot.Options {
  const tokens = getComputedStyle(document.documentElement);
  const token = (name: string): string => tokens.getPropertyValue(name).trim();
  const font = `12px ${token('--font')}`;
  const axis: UPlot.Axis = { stroke: token('--text-muted'), font, ticks: { show: false }, grid: { stroke: token('--grid'), width: 1 } };
  const { stepped } = UPlot.paths;
  const paths = stepped?.({ align: 1 });
  return {
    width,
    height,
    cursor: { show: false },
    legend: { show: false },
    scales: { y: { range: (_plot, _min, max) => [0, roundTop(max)] } },
    axes: [{ ...axis, size: 28, grid: { show: false }, label: zone, labelFont: font, labelSize: 18, values: (_plot, times) => times.map(timeText) }, {
      ...axis,
      size: 84,
      splits: (_plot, _axis, _min, max) => [0, max / 4, max / 2, max * 3 / 4, max],
      values: (_plot, values) => values.map(rate),
    }],
    series: [
      {},
      { stroke: token('--chart-1'), fill: token('--chart-1-fill'), width: 1.75, points: { show: false }, ...(paths && { paths }) },
      { stroke: token('--chart-2'), dash: [5, 3], width: 1.5, points: { show: false }, ...(paths && { paths }) },
    ],
  };
}

function timeText(seconds: number): string {
  const date = new Date(seconds * 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0;
  return isMidnight ? `${two(date.getMonth() + 1)}-${two(date.getDate())}` : `${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** The smallest of 1, 2, 4, 8, ... KiB/s and so on that is not below the value. */
function roundTop(value: number): number {
  return Math.max(1024, 2 ** Math.ceil(Math.log2(Math.max(1, value))));
}
