import assert from "node:assert/strict";
import { test } from "node:test";
import { axisTime, exactTime, fixed, formatByteRange, formatBytes, formatChange, formatCount, formatDuration, formatPlusMinus, formatRange, formatShare, formatValue, momentText } from "./format";
import texts from "./number_texts.json";

// core/report/views/number_texts_test.cc checks the same table, so that the page and the command line write the same.
test("numbers are written as the command line writes them", () => {
  for (const [value, text] of texts.bytes as [number, string][]) assert.equal(formatBytes(value), text, `bytes ${value}`);
  for (const [low, high, text] of texts.byte_range as [number, number, string][]) assert.equal(formatByteRange(low, high), text, `range ${low} ${high}`);
  for (const [value, low, high, text] of texts.plus_minus as [number, number, number, string][]) assert.equal(formatPlusMinus(value, low, high), text, `± ${value} ${low} ${high}`);
  for (const [value, text] of texts.count as [number, string][]) assert.equal(formatCount(value), text, `count ${value}`);
  for (const [part, total, text] of texts.share as [number, number, string][]) assert.equal(formatShare(part, total), text, `share ${part} ${total}`);
  for (const [ns, text] of texts.duration as [number, string][]) assert.equal(formatDuration(ns), text, `duration ${ns}`);
  for (const [value, unit, text] of texts.value as [number, string, string][]) assert.equal(formatValue(value, unit), text, `value ${value} ${unit}`);
  for (const [value, unit, text] of texts.change as [number, string, string][]) assert.equal(formatChange(value, unit), text, `change ${value} ${unit}`);
  for (const [low, high, unit, text] of texts.value_range as [number, number, string, string][]) assert.equal(formatRange(low, high, unit), text, `range ${low} ${high} ${unit}`);
});

test("halves go to the even digit, as printf has it", () => {
  assert.deepEqual([0.5, 1.5, 2.5].map((value) => fixed(value, 0)), ["0", "2", "2"]);
  assert.equal(fixed(0.25, 1), "0.2");
  assert.equal(fixed(0.75, 1), "0.8");
});

test("what is no number is written all the same", () => {
  for (const value of [NaN, Infinity, -1]) assert.equal(formatBytes(value), "0 B");
  assert.equal(formatValue(NaN, "bytes"), "-");
  assert.equal(formatShare(1, 0), "-");
});

test("moments are written as the server reads them again", () => {
  assert.equal(momentText(1_250_000_000), "1.25s");
  assert.equal(momentText(0), "0s");
  assert.equal(momentText(123_456_789), "0.123457s");
  assert.equal(momentText(10e9), "10s");
});

test("an axis has as many digits as its steps need", () => {
  assert.equal(axisTime(2, 1), "2s");
  assert.equal(axisTime(2.5, 0.5), "2.5s");
  assert.equal(axisTime(0.02, 0.01), "0.02s");
  assert.equal(axisTime(0.002, 0.001), "0.002s");
  assert.equal(axisTime(90, 30), "1:30");
  assert.equal(axisTime(3661, 60), "1:01:01");
  assert.equal(exactTime(2.1041), "2.104s");
  assert.equal(exactTime(187.25), "3:07.250");
});
