import assert from "node:assert/strict";
import { test } from "node:test";
import type { CellMap } from "../api/memory_map";
import { addressOfCell, CELL, cellAt, cellBelow, cellOfAddress, fillStep, HEADING, layoutMap, parseAddresses, placeOf } from "./memory_map";

const MAP: CellMap = {
  unit: 4096, areas: [{ start: 0x10000, cells: 25 }, { start: 0x900000, cells: 3 }],
  live_bytes: Array(28).fill(0), blocks: [], largest: [], largest_bytes: [],
};

test("every cell is found where it is drawn", () => {
  for (const width of [100, 400, 1000]) {
    const layout = layoutMap(MAP, width);
    for (let cell = 0; cell < 28; ++cell) {
      const place = placeOf(layout, cell)!;
      assert.equal(cellAt(layout, place.x + CELL / 2, place.y + CELL / 2), cell);
      assert.ok(place.y + CELL <= layout.height);
      assert.equal(cellOfAddress(MAP, layout, addressOfCell(MAP, layout, cell)), cell);
    }
  }
});

test("areas stand beside each other where there is room", () => {
  const wide = layoutMap(MAP, 1000);
  assert.equal(wide.areas[1]!.top, 0);
  assert.ok(wide.areas[1]!.left > 25 * CELL);
  const narrow = layoutMap(MAP, 100);
  assert.equal(narrow.areas[1]!.top, HEADING + 3 * CELL + 4);
  assert.equal(cellAt(narrow, 5, 2), -1);
});

test("keys go from row to row, and on into the next area", () => {
  const layout = layoutMap(MAP, 100);
  assert.equal(cellBelow(layout, 3, 1), 13);
  assert.equal(cellBelow(layout, 23, 1), 25);
  assert.equal(cellBelow(layout, 25, -1), 24);
  assert.equal(cellBelow(layout, 0, -1), 0);
  assert.equal(cellBelow(layout, 27, 1), 27);
});

test("how full a cell is comes in steps", () => {
  assert.deepEqual([0, 1, 1024, 1025, 2048, 3072, 3073, 4096].map((live) => fillStep(live, 4096)), [0, 1, 1, 2, 2, 3, 4, 5]);
});

test("addresses are read as they are written, and nothing else", () => {
  assert.deepEqual(parseAddresses("0x1000-0x2000"), { start: 0x1000, end: 0x2000 });
  for (const text of [undefined, "", "0x2000-0x1000", "1000-2000", "0x1-0xg", "0x1-0x" + "f".repeat(15)]) assert.equal(parseAddresses(text), null);
});
