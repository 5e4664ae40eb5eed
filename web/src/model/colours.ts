// Colours of boxes: a hue for each module, shades of it for its functions. Hues are apart by lightness too, so
// that neighbours can be told apart without seeing colours.

const HUES = [28, 205, 95, 345, 48, 175, 265, 12, 130, 225, 310, 70];

function hash(text: string): number {
  let value = 2166136261;
  for (let i = 0; i < text.length; ++i) value = Math.imul(value ^ text.charCodeAt(i), 16777619);
  return (value ^ (value >>> 15)) >>> 0;
}

export function boxColour(module: string, label: string, dark: boolean): string {
  const hue = HUES[hash(module) % HUES.length]!;
  const shade = (hash(label) % 8) / 7;
  return dark ? `hsl(${hue} 34% ${29 + 11 * shade}%)` : `hsl(${hue} 58% ${72 + 11 * shade}%)`;
}

// For series and parts: safe for those who do not tell red from green.
export const SERIES = ["#3b78c4", "#d98a1f", "#2f9e8f", "#b5569b", "#8a8f2a", "#c4593b", "#6a6fcf", "#5b8a3c", "#9a7b5b"];
export const REST = "#8c8f94";

// A colour over the background of the page, without being transparent: areas that lie upon each other stay clear.
export function tint(colour: string, dark: boolean): string {
  const part = dark ? 0.62 : 0.66;
  const back = dark ? [22, 24, 28] : [251, 250, 247];
  const channels = [1, 3, 5].map((at, i) => Math.round(parseInt(colour.slice(at, at + 2), 16) * part + back[i]! * (1 - part)));
  return `rgb(${channels.join(" ")})`;
}
