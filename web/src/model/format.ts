// Numbers as people read them: the same texts as the command line prints (core/base/text.h,
// core/report/value_text.h), so that a figure on the page can be compared with one in a terminal.

const UNITS = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];

function sane(value: number): number {
  return Number.isFinite(value) && value > 0 ? value : 0;
}

// As printf does it: of two numbers that are as near, the even one.
export function fixed(value: number, digits: number): string {
  const scaled = value * 10 ** digits;
  const floor = Math.floor(scaled);
  if (scaled - floor === 0.5) return ((floor % 2 === 0 ? floor : floor + 1) / 10 ** digits).toFixed(digits);
  return value.toFixed(digits);
}

function unitOf(bytes: number): number {
  let unit = 0;
  while (unit + 1 < UNITS.length && bytes >= 1023.5) {
    bytes /= 1024;
    ++unit;
  }
  return unit;
}

function numberIn(bytes: number, unit: number): string {
  const scaled = bytes / 1024 ** unit;
  return fixed(scaled, unit === 0 || scaled >= 99.95 ? 0 : 1);
}

export function formatBytes(bytes: number): string {
  const value = sane(bytes);
  const unit = unitOf(value);
  return `${numberIn(value, unit)} ${UNITS[unit]}`;
}

export function formatByteRange(low: number, high: number): string {
  const a = sane(low);
  const b = sane(high);
  const unit = unitOf(b);
  if (a === 0 || a >= 0.1 * 1024 ** unit) {
    return `${a === 0 ? "0" : numberIn(a, unit)}-${numberIn(b, unit)} ${UNITS[unit]}`;
  }
  return `${formatBytes(a)}-${formatBytes(b)}`;
}

export function formatPlusMinus(value: number, low: number, high: number): string {
  if (!(value > 0) || !(high > low)) return "";
  const percent = (50 * (high - low)) / value;
  if (percent < 0.05) return "";
  if (percent >= 999.5) return "±>999%";
  return `±${fixed(percent, percent < 0.95 ? 1 : 0)}%`;
}

export function formatCount(count: number): string {
  const value = sane(count);
  if (value >= 1e15) return value.toExponential(1).replace(/e\+(\d)$/, "e+0$1");
  if (value >= 1e10) return `${fixed(value / 1e9, 1)}G`;
  if (value >= 1e7) return `${fixed(value / 1e6, 1)}M`;
  return fixed(value, 0).replace(/\B(?=(\d{3})+$)/g, ",");
}

export function formatShare(part: number, total: number): string {
  if (!(total > 0) || !Number.isFinite(part)) return "-";
  const percent = (100 * part) / total;
  if (percent >= 99.95 && percent < 100.05) return "100%";
  return `${fixed(percent, percent !== 0 && Math.abs(percent) < 0.095 ? 2 : 1)}%`;
}

const two = (value: number): string => String(value).padStart(2, "0");

export function formatDuration(ns: number): string {
  const ms = Math.round(ns / 1e6);
  if (ms < 1000) return `${ms}ms`;
  const tenths = Math.round(ns / 1e8);
  if (tenths < 100) return `${Math.floor(tenths / 10)}.${tenths % 10}s`;
  const s = Math.round(ns / 1e9);
  if (s < 60) return `${s}s`;
  if (s < 3600) return `${Math.floor(s / 60)}m${two(s % 60)}s`;
  const m = Math.round(ns / 60e9);
  if (m < 24 * 60) return `${Math.floor(m / 60)}h${two(m % 60)}m`;
  const h = Math.round(ns / 3600e9);
  return `${Math.floor(h / 24)}d${two(h % 24)}h`;
}

function threeDigits(value: number): string {
  return String(Number(value.toPrecision(3)));
}

function formatTime(ns: number): string {
  if (ns < 999.5) return `${fixed(ns, 0)}ns`;
  if (ns < 999.5e3) return `${threeDigits(ns / 1e3)}us`;
  if (ns < 999.5e6) return `${threeDigits(ns / 1e6)}ms`;
  if (ns < 99.95e9) return `${threeDigits(ns / 1e9)}s`;
  return formatDuration(Math.min(ns, 2 ** 64)); // the command line counts in 64 bits
}

const NANOSECONDS: Record<string, number> = {
  nanoseconds: 1, ns: 1, microseconds: 1e3, us: 1e3, milliseconds: 1e6, ms: 1e6, seconds: 1e9, s: 1e9,
};

function formatPositive(value: number, unit: string): string {
  if (unit === "bytes") return formatBytes(value);
  if (unit === 'byte-seconds') {
    return value > 0 && value < 1 ? `${formatBytes(value * 1e6)}*us` : `${formatBytes(value)}*s`;
  }
  const ns = NANOSECONDS[unit];
  return ns === undefined ? formatCount(value) : formatTime(value * ns);
}

export function formatValue(value: number, unit: string): string {
  if (!Number.isFinite(value)) return "-";
  return value < 0 ? `-${formatPositive(-value, unit)}` : formatPositive(value, unit);
}

// With its sign; what is too little to be seen is 0.
export function formatChange(value: number, unit: string): string {
  const text = formatPositive(Math.abs(value), unit);
  if (!Number.isFinite(value) || text === formatPositive(0, unit)) return "0";
  return `${value > 0 ? "+" : "-"}${text}`;
}

export function formatRange(low: number, high: number, unit: string): string {
  if (unit === "bytes" && low >= 0) return formatByteRange(low, high);
  return formatValue(low, unit) + (low < 0 || high < 0 ? " to " : "-") + formatValue(high, unit);
}

// A moment as the server reads it again, to the microsecond.
export function momentText(ns: number): string {
  return `${(ns / 1e9).toFixed(6).replace(/\.?0+$/, "")}s`;
}

// Seconds on an axis: as many digits as the step needs.
export function axisTime(seconds: number, step: number): string {
  if (seconds >= 60 || step >= 60) {
    const whole = Math.floor(seconds / 60);
    const rest = seconds - whole * 60;
    const text = rest.toFixed(step < 1 ? 1 : 0).padStart(step < 1 ? 4 : 2, "0");
    return whole >= 60 ? `${Math.floor(whole / 60)}:${two(whole % 60)}:${text}` : `${whole}:${text}`;
  }
  if (step < 1e-3) return `${(seconds * 1e6).toFixed(step < 1e-6 ? 3 : 0)}us`;
  if (step < 0.1) return `${seconds.toFixed(step < 0.01 ? 3 : 2)}s`;
  return `${seconds.toFixed(step >= 1 ? 0 : Math.abs(step * 10 - Math.round(step * 10)) < 1e-6 ? 1 : 2)}s`;
}

// A moment in full: "2.104s", "3:07.250".
export function exactTime(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(3)}s`;
  const whole = Math.floor(seconds / 60);
  const rest = (seconds - whole * 60).toFixed(3).padStart(6, "0");
  return whole >= 60 ? `${Math.floor(whole / 60)}:${two(whole % 60)}:${rest}` : `${whole}:${rest}`;
}
