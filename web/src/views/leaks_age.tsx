// When what is live now was allocated: bars over the run, the oldest at the left. What grows without bound has even
// bars, what comes and goes only young ones, what was made at the start only old ones.

import type { Ages } from "../api/leaks";
import { formatBytes, formatDuration } from "../model/format";

export function AgeChart({ ages, large = false }: { ages: Ages; large?: boolean }) {
  const most = Math.max(1, ...ages.bytes);
  const count = ages.bytes.length;
  const run = formatDuration(ages.step_ns * count);
  const height = large ? 64 : 26;
  const title = (i: number, bytes: number) => `${formatBytes(bytes)} from ${formatDuration((count - i) * ages.step_ns)} to ${formatDuration((count - 1 - i) * ages.step_ns)} ago`;
  const half = ages.bytes.reduce((sum, bytes) => sum + bytes, 0) / 2;
  let sum = 0;
  const median = ages.bytes.findIndex((bytes) => (sum += bytes) >= half);
  const label = `When it was allocated: half of it more than ${formatDuration(Math.max(0, count - 1 - median) * ages.step_ns)} ago`;
  return (
    <figure class={`ages${large ? " large-ages" : ""}`}>
      <svg viewBox={`0 0 ${count * 10} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {ages.bytes.map((bytes, i) => {
          const full = (bytes / most) * (height - 1);
          const lost = ((ages.lost_bytes?.[i] ?? 0) / most) * (height - 1);
          if (bytes <= 0) return null;
          return (
            <g key={i}>
              <title>{title(i, bytes)}</title>
              <rect class="age" x={i * 10 + 1} width="8" y={height - Math.max(1, full)} height={Math.max(1, full)} />
              {lost > 0 && <rect class="age-lost" x={i * 10 + 1} width="8" y={height - Math.max(1, lost)} height={Math.max(1, lost)} />}
            </g>
          );
        })}
        <rect class="axis" x="0" y={height - 0.5} width={count * 10} height="0.5" />
      </svg>
      {large && <figcaption class="dim"><span>{run} ago</span><span>when what is live was allocated</span><span>now</span></figcaption>}
    </figure>
  );
}

// The amount over time, of a trace: the least in each part of the run.
export function AmountLine({ values }: { values: number[] }) {
  const most = Math.max(1, ...values);
  const height = 26;
  const points = values.map((value, i) => `${(i * 240) / Math.max(1, values.length - 1)},${(height - 1 - (value / most) * (height - 3)).toFixed(1)}`);
  return (
    <figure class="ages">
      <svg viewBox={`0 0 240 ${height}`} preserveAspectRatio="none" role="img" aria-label={`What it held over the run, up to ${formatBytes(most)}`}>
        <polygon class="amount" points={`0,${height} ${points.join(" ")} 240,${height}`} />
        <polyline class="amount-line" points={points.join(" ")} />
      </svg>
    </figure>
  );
}
