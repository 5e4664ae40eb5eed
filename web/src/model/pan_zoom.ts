// Where a picture is on the screen: its place and size. Pure.

export interface Placed {
  x: number; // of the picture's left upper corner, on the screen
  y: number;
  scale: number;
}

export const LEAST = 0.05;
export const MOST = 8;

// The whole picture, in the middle; never larger than it is.
export function fit(width: number, height: number, room: { width: number; height: number }): Placed {
  const scale = Math.max(LEAST, Math.min(1.2, (room.width - 16) / Math.max(1, width), (room.height - 16) / Math.max(1, height)));
  return { x: (room.width - width * scale) / 2, y: (room.height - height * scale) / 2, scale };
}

// What is under a point stays under it.
export function zoomAt(placed: Placed, factor: number, x: number, y: number): Placed {
  const scale = Math.min(MOST, Math.max(LEAST, placed.scale * factor));
  const by = scale / placed.scale;
  return { x: x - (x - placed.x) * by, y: y - (y - placed.y) * by, scale };
}

export function moved(placed: Placed, dx: number, dy: number): Placed {
  return { ...placed, x: placed.x + dx, y: placed.y + dy };
}

// Moves no further than needed for the box to be seen.
export function bringIntoView(placed: Placed, box: { x: number; y: number; width: number; height: number }, room: { width: number; height: number }): Placed {
  const left = placed.x + box.x * placed.scale;
  const top = placed.y + box.y * placed.scale;
  const right = left + box.width * placed.scale;
  const bottom = top + box.height * placed.scale;
  const margin = 12;
  const dx = left < margin ? margin - left : right > room.width - margin ? Math.max(room.width - margin - right, margin - left) : 0;
  const dy = top < margin ? margin - top : bottom > room.height - margin ? Math.max(room.height - margin - bottom, margin - top) : 0;
  return dx || dy ? moved(placed, dx, dy) : placed;
}
