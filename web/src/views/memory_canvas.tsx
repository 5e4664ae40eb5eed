// The cells of a memory map on a canvas: drawn once for a map, pointed at and chosen by mouse, touch and keys.

import { useEffect, useRef, useState } from "preact/hooks";
import type { CellMap } from "../api/memory_map";
import { formatBytes } from "../model/format";
import { addressOfCell, CELL, cellAt, cellBelow, cellOfAddress, FILL_DARK, FILL_LIGHT, fillStep, HEADING, hex, placeOf } from "../model/memory_map";
import type { MapLayout } from "../model/memory_map";

export interface MapCanvasProps {
  map: CellMap;
  layout: MapLayout;
  width: number;
  dark: boolean;
  chosen: { start: number; end: number } | null;
  text: (cell: number) => string;
  onPoint: (cell: number) => void;
  onChoose: (start: number, end: number) => void; // equal: nothing
}

export function MapCanvas({ map, layout, width, dark, chosen, text, onPoint, onChoose }: MapCanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [focused, setFocused] = useState(-1);
  const begun = useRef(-1);
  const [draft, setDraft] = useState<{ from: number; to: number } | null>(null);
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!canvas.current || !context || width <= 0) return;
    const ratio = window.devicePixelRatio || 1;
    canvas.current.width = Math.round(width * ratio);
    canvas.current.height = Math.round(layout.height * ratio);
    context.scale(ratio, ratio);
    const colours = dark ? FILL_DARK : FILL_LIGHT;
    context.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    for (const area of layout.areas) {
      context.fillStyle = dark ? "#a9adb5" : "#5a5a57";
      context.fillText(`${hex(area.start)}   ${formatBytes(area.cells * map.unit)}`, area.left, area.top + 13);
      for (let i = 0; i < area.cells; ++i) {
        const x = area.left + (i % area.columns) * CELL;
        const y = area.top + HEADING + Math.floor(i / area.columns) * CELL;
        context.fillStyle = colours[fillStep(map.live_bytes[area.first + i]!, map.unit)]!;
        context.fillRect(x, y, CELL - 1, CELL - 1);
      }
    }
    // Around what is chosen, and what the keys are at.
    const outline = (from: number, to: number, colour: string) => {
      context.strokeStyle = colour;
      context.lineWidth = 2;
      for (let cell = from; cell <= to; ++cell) {
        const place = placeOf(layout, cell);
        if (place) context.strokeRect(place.x, place.y, CELL - 1, CELL - 1);
      }
    };
    if (chosen) {
      const from = cellOfAddress(map, layout, chosen.start);
      const to = cellOfAddress(map, layout, chosen.end - 1);
      if (from >= 0 && to >= from) outline(from, to, dark ? "#ffffff" : "#000000");
    }
    if (draft) outline(draft.from, draft.to, dark ? "#ffffff" : "#000000");
    if (focused >= 0) outline(focused, focused, dark ? "#ffd166" : "#b3006b");
  }, [map, layout, width, dark, chosen?.start, chosen?.end, focused, draft]);

  const cellOf = (event: PointerEvent): number => {
    const box = canvas.current!.getBoundingClientRect();
    return cellAt(layout, event.clientX - box.left, event.clientY - box.top);
  };
  const choose = (from: number, to: number) => onChoose(addressOfCell(map, layout, Math.min(from, to)), addressOfCell(map, layout, Math.max(from, to)) + map.unit);
  const focus = (cell: number) => {
    setFocused(cell);
    onPoint(cell);
  };
  const onKey = (event: KeyboardEvent) => {
    const count = map.live_bytes.length;
    const at = Math.max(0, focused);
    const moves: Record<string, () => number> = {
      ArrowLeft: () => Math.max(0, at - 1), ArrowRight: () => Math.min(count - 1, at + 1),
      ArrowUp: () => cellBelow(layout, at, -1), ArrowDown: () => cellBelow(layout, at, 1),
      Home: () => 0, End: () => count - 1,
    };
    const move = moves[event.key];
    if (move) focus(focused < 0 ? 0 : move());
    else if (event.key === "Enter" && focused >= 0) choose(focused, focused);
    else if (event.key === "Escape") onChoose(0, 0);
    else return;
    event.preventDefault();
  };
  return (
    <canvas
      ref={canvas} class="map-canvas" data-testid="map-canvas" tabIndex={0} role="application"
      aria-label={`Map of the heap, ${map.live_bytes.length} cells. Arrow keys move, Enter tells who holds the cell. ${text(focused)}`}
      style={{ width: `${width}px`, height: `${layout.height}px` }}
      onKeyDown={onKey} onBlur={() => setFocused(-1)}
      onPointerLeave={() => { if (begun.current < 0) onPoint(-1); }}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        begun.current = cellOf(event);
        if (begun.current >= 0) event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        const cell = cellOf(event);
        onPoint(cell);
        if (begun.current >= 0 && cell >= 0 && cell !== begun.current) setDraft({ from: Math.min(begun.current, cell), to: Math.max(begun.current, cell) });
      }}
      onPointerUp={(event) => {
        const from = begun.current;
        const cell = cellOf(event);
        begun.current = -1;
        setDraft(null);
        if (from >= 0) choose(from, cell >= 0 ? cell : from);
      }}
      onPointerCancel={() => { begun.current = -1; setDraft(null); }}
    />
  );
}
