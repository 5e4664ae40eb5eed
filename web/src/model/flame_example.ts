// A small flame graph for tests.

import type { FlameAnswer } from "../api/types";

// all 100: main 100 (a 60 (c 30, self 30), b 40 (a 10))
export function example(): FlameAnswer {
  const names = ["main", "a", "b", "c"].map((label) => ({ label, step: label.padEnd(6, "_").slice(0, 6), module: "prog" }));
  return {
    name: "live", unit: "bytes", sort: "live", total: {}, selected: {}, shrunk: 0, value: 100, found: true, cut: false,
    path: [{ name: null, value: 100 }],
    names,
    nodes: {
      parent: [0, 0, 1, 1, 2, 3],
      name: [0, 0, 1, 2, 3, 1],
      value: [100, 100, 60, 40, 30, 10],
      self: [0, 0, 30, 30, 30, 10],
      flags: [0, 0, 0, 0, 0, 1],
    },
  };
}
