import assert from "node:assert/strict";
import { test } from "node:test";
import { blocksOf, filterOf, parseState, stateText, Store, withSource, withWords } from "./state";

// A window as far as the store uses it.
function fakeWindow(hash: string) {
  const listeners: (() => void)[] = [];
  const steps: string[] = [];
  const window = {
    location: { hash },
    addEventListener: (_name: string, listener: () => void) => listeners.push(listener),
    history: {
      pushState: (_state: unknown, _title: string, text: string) => {
        window.location.hash = text;
        steps.push(`push ${text}`);
      },
      replaceState: (_state: unknown, _title: string, text: string) => {
        window.location.hash = text;
        steps.push(`replace ${text}`);
      },
    },
  };
  const go = (text: string) => {
    window.location.hash = text;
    for (const listener of listeners) listener();
  };
  return { window: window as unknown as Window, steps, go };
}

test("a state is read again as it was written, whatever is in it", () => {
  const state = { view: "flame", focus: "^a<b>&c=\"'#%+ é\u2028$", source: "x y.hgt", empty: "" };
  const { empty: _empty, ...rest } = state;
  assert.deepEqual(parseState(`#${stateText(state)}`), rest);
  assert.equal(stateText({ b: "2", a: "1" }), "a=1&b=2");
});

test("words that are empty go", () => {
  assert.deepEqual(withWords({ a: "1", b: "2" }, { a: "", c: "3", b: undefined }), { c: "3" });
});

test("another source keeps the view and drops the filter", () => {
  assert.deepEqual(withSource({ view: "table", focus: "x", cumulative: "1", source: "a" }, "b"), { source: "b", view: "table", cumulative: "1" });
});

test("only words of the filter are handed on", () => {
  assert.deepEqual(filterOf({ view: "table", at: "2s", focus: "x", root: "AAAAAA", value: "" }), { at: "2s", focus: "x" });
  assert.deepEqual(blocksOf({ from: "1s", to: "2s", value: "left", "live-at": "3s", focus: "x", thread: "7", "min-size": "1K", source: "a" }), { focus: "x", thread: "7", "min-size": "1K" });
});

test("an address that has just changed is not overwritten", () => {
  const { window, steps } = fakeWindow("#view=flame");
  const store = new Store(window);
  window.location.hash = "#view=table"; // and nobody was told yet
  store.change({ source: "a" }, true);
  assert.deepEqual(steps, ["replace #source=a&view=table"]);
  assert.deepEqual(store.state, { source: "a", view: "table" });
});

test("the store and the address stay equal", () => {
  const { window, steps, go } = fakeWindow("#view=flame");
  const store = new Store(window);
  let told = 0;
  const stop = store.listen(() => ++told);
  store.change({ at: "1s" });
  assert.deepEqual(steps, ["push #at=1s&view=flame"]);
  store.change({ at: "1s" });
  assert.equal(told, 1);
  store.change({ at: "2s" }, true);
  assert.equal(steps[1], "replace #at=2s&view=flame");
  go("#view=table");
  assert.deepEqual(store.state, { view: "table" });
  assert.equal(told, 3);
  stop();
  store.change({ at: "3s" });
  assert.equal(told, 3);
});
