// A curve as large as a word: how a figure went.

import { formatBytes } from "../model/format";
import { pathOf } from "../model/sparkline";
import type { Trend } from "../model/sparkline";

const WIDTH = 96;
const HEIGHT = 18;

export function Sparkline({ trend }: { trend: Trend | null }) {
  if (!trend || trend.values.length < 2) return null;
  const first = trend.values[0]!;
  const last = trend.values[trend.values.length - 1]!;
  const most = Math.max(...trend.values);
  const text = `from ${formatBytes(first)} to ${formatBytes(last)}, at most ${formatBytes(most)}`;
  const line = pathOf(trend, WIDTH, HEIGHT);
  return (
    <svg class="spark" width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={text}>
      <title>{text}</title>
      <path class="area" d={`${line} L${WIDTH} ${HEIGHT} L0 ${HEIGHT} Z`} />
      <path class="curve" d={line} />
    </svg>
  );
}
