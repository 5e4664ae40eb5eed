// A figure over time as a small curve. Pure.

export interface Trend {
  times: readonly number[]; // ascending
  values: readonly number[];
}

// In a box of that size, from zero to the most; a path in SVG's words.
export function pathOf(trend: Trend, width: number, height: number): string {
  const { times, values } = trend;
  const begin = times[0] ?? 0;
  const span = Math.max(1e-9, (times[times.length - 1] ?? 0) - begin);
  const most = Math.max(1e-9, ...values);
  const x = (i: number) => (((times[i] ?? 0) - begin) / span) * width;
  const y = (value: number) => height - 1 - (Math.max(0, value) / most) * (height - 2);
  return values.map((value, i) => `${i === 0 ? "M" : "L"}${x(i).toFixed(1)} ${y(value).toFixed(1)}`).join(" ");
}

// Adds a point, and drops the oldest of more than `most`.
export function withPoint(trend: Trend | undefined, time: number, value: number, most: number): Trend {
  const times = [...(trend?.times ?? []), time];
  const values = [...(trend?.values ?? []), value];
  return { times: times.slice(-most), values: values.slice(-most) };
}
