// Where the cells of a memory map are drawn: rows of equal cells, and for each area of addresses a heading.

import type { CellMap } from "../api/memory_map";

export const CELL = 10; // pixels from one to the next
export const HEADING = 18;

export interface MapArea {
  left: number;
  top: number; // of its heading
  columns: number;
  first: number; // cell
  cells: number;
  start: number; // address
}

export interface MapLayout {
  areas: MapArea[];
  height: number;
}

// Small areas stand side by side.
const LEAST_WIDTH = 17 * CELL; // of a heading
const BETWEEN = 2 * CELL;

export function layoutMap(map: CellMap, width: number): MapLayout {
  const most = Math.max(1, Math.floor(width / CELL));
  const areas: MapArea[] = [];
  let left = 0;
  let top = 0;
  let below = 0; // of the areas that stand beside
  let first = 0;
  for (const area of map.areas) {
    const columns = Math.min(area.cells, most);
    const wide = Math.max(columns * CELL, LEAST_WIDTH);
    if (left > 0 && left + wide > most * CELL) {
      left = 0;
      top = below;
    }
    areas.push({ left, top, columns, first, cells: area.cells, start: area.start });
    below = Math.max(below, top + HEADING + Math.ceil(area.cells / columns) * CELL + 4);
    left += wide + BETWEEN;
    first += area.cells;
  }
  return { areas, height: Math.max(below, CELL) };
}

export function areaOf(layout: MapLayout, cell: number): MapArea | null {
  return layout.areas.find((area) => cell >= area.first && cell < area.first + area.cells) ?? null;
}

// The upper left corner of a cell.
export function placeOf(layout: MapLayout, cell: number): { x: number; y: number } | null {
  const area = areaOf(layout, cell);
  if (!area) return null;
  const index = cell - area.first;
  return { x: area.left + (index % area.columns) * CELL, y: area.top + HEADING + Math.floor(index / area.columns) * CELL };
}

// The cell at a pixel; -1 none.
export function cellAt(layout: MapLayout, x: number, y: number): number {
  for (const area of layout.areas) {
    const column = Math.floor((x - area.left) / CELL);
    const row = Math.floor((y - area.top - HEADING) / CELL);
    if (row < 0 || column < 0 || column >= area.columns) continue;
    const index = row * area.columns + column;
    if (index < area.cells) return area.first + index;
  }
  return -1;
}

export function addressOfCell(map: CellMap, layout: MapLayout, cell: number): number {
  const area = areaOf(layout, cell);
  return area ? area.start + (cell - area.first) * map.unit : 0;
}

// The cell that an address is in; -1 none.
export function cellOfAddress(map: CellMap, layout: MapLayout, address: number): number {
  for (const area of layout.areas) {
    const index = Math.floor((address - area.start) / map.unit);
    if (index >= 0 && index < area.cells) return area.first + index;
  }
  return -1;
}

// The cell above or below; beyond the end of an area, the nearest of the next.
export function cellBelow(layout: MapLayout, cell: number, rows: number): number {
  const area = areaOf(layout, cell);
  if (!area) return cell;
  const next = cell + rows * area.columns;
  if (next >= area.first && next < area.first + area.cells) return next;
  const last = layout.areas[layout.areas.length - 1]!;
  return Math.min(last.first + last.cells - 1, Math.max(0, rows > 0 ? area.first + area.cells : area.first - 1));
}

// How full, in steps: 0 nothing, 1 up to a quarter (what is there pins the rest), then 2, 3, 4, and 5 for full.
export function fillStep(live: number, unit: number): number {
  if (live <= 0) return 0;
  const part = live / unit;
  return part > 0.99 ? 5 : Math.min(4, 1 + Math.floor(Math.max(0, part - 1e-9) * 4));
}
export const FILL_NAMES = ["empty", "up to ¼ full", "up to ½", "up to ¾", "more", "full"];
export const FILL_LIGHT = ["#e4e1d8", "#d9701a", "#b7cfec", "#86aee0", "#5187cc", "#1f56a0"];
export const FILL_DARK = ["#2d3138", "#f08c35", "#2f4a6e", "#3f6aa3", "#5c92d6", "#a4cbff"];

export const hex = (address: number): string => `0x${address.toString(16)}`;
// "0x1000-0x2000", as the page's address has it.
export function parseAddresses(text: string | undefined): { start: number; end: number } | null {
  const found = /^0x([0-9a-f]{1,14})-0x([0-9a-f]{1,14})$/.exec(text ?? "");
  if (!found) return null;
  const start = parseInt(found[1]!, 16);
  const end = parseInt(found[2]!, 16);
  return end > start ? { start, end } : null;
}
