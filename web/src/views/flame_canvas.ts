// Draws a flame graph on a canvas and tells what is under the pointer. Knows nothing of the page around it.

import { boxColour } from "../model/colours";
import { ancestorLabel, labelOf, nodeAt } from "../model/flame";
import type { Flame } from "../model/flame";

export const ROW = 20;
const FONT = "12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
const LEAST_DRAWN = 0.4; // pixels
const ZOOM_MS = 160;

export interface Look {
  dark: boolean;
  upwards: boolean; // the root at the bottom
  selected: number; // node; -1 none
  hovered: number;
  matches: Uint8Array | null; // by name
}

export interface Hit {
  node: number; // -1: an ancestor
  ancestor: number;
}

export class FlameCanvas {
  private readonly context: CanvasRenderingContext2D;
  private flame: Flame | null = null;
  private look: Look = { dark: false, upwards: false, selected: -1, hovered: -1, matches: null };
  private width = 0;
  private height = 0;
  private letter = 7;
  private colours: string[] = [];
  private frame = 0;
  // The part of the picture that is shown, while it moves.
  private from = { left: 0, width: 1 };
  private to = { left: 0, width: 1 };
  private begun = 0;

  constructor(private readonly canvas: HTMLCanvasElement) {
    const context = canvas.getContext("2d", { alpha: false });
    if (!context) throw new Error("this browser has no canvas");
    this.context = context;
  }

  rows(): number {
    return this.flame ? this.flame.ancestors + this.flame.levels.length : 0;
  }

  show(flame: Flame, look: Look): void {
    const changed = flame !== this.flame || look.dark !== this.look.dark;
    if (flame !== this.flame) this.settle();
    this.flame = flame;
    this.look = look;
    if (changed) {
      this.colours = flame.answer.names.map((name) => boxColour(name.module ?? "", name.label, look.dark));
    }
    this.plan();
  }

  resize(width: number, height: number): void {
    const ratio = window.devicePixelRatio || 1;
    this.width = width;
    this.height = height;
    this.canvas.width = Math.max(1, Math.round(width * ratio));
    this.canvas.height = Math.max(1, Math.round(height * ratio));
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.font = FONT;
    this.letter = this.context.measureText("MMMMMMMMMM").width / 10 || 7;
    this.plan();
  }

  // Moves towards a node, so that the eye can follow; the next picture will begin with it.
  zoomTo(node: number): void {
    const flame = this.flame;
    if (!flame || node < 0 || window.matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    this.from = { left: 0, width: 1 };
    this.to = { left: flame.left[node]!, width: Math.max(flame.width[node]!, 1e-9) };
    this.begun = performance.now();
    this.plan();
  }

  hit(x: number, y: number): Hit | null {
    const flame = this.flame;
    if (!flame || this.width === 0) return null;
    const line = this.look.upwards ? Math.floor((this.height - y) / ROW) : Math.floor(y / ROW);
    if (line < 0) return null;
    if (line < flame.ancestors) return { node: -1, ancestor: line };
    const node = nodeAt(flame, line - flame.ancestors, x / this.width);
    return node < 0 ? null : { node, ancestor: -1 };
  }

  dispose(): void {
    cancelAnimationFrame(this.frame);
  }

  private settle(): void {
    this.begun = 0;
    this.from = this.to = { left: 0, width: 1 };
  }

  private plan(): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame((now) => this.draw(now));
  }

  private top(line: number): number {
    return this.look.upwards ? this.height - (line + 1) * ROW : line * ROW;
  }

  private draw(now: number): void {
    const flame = this.flame;
    const { context } = this;
    context.fillStyle = this.look.dark ? "#16181c" : "#fbfaf7";
    context.fillRect(0, 0, this.width, this.height);
    if (!flame) return;
    const moving = this.begun > 0;
    const part = moving ? Math.min(1, (now - this.begun) / ZOOM_MS) : 1;
    const eased = 1 - (1 - part) ** 3;
    const left = this.from.left + (this.to.left - this.from.left) * eased;
    const width = this.from.width * (this.to.width / this.from.width) ** eased;
    const scale = this.width / (moving ? width : 1);
    const offset = moving ? left : 0;
    context.font = FONT;
    context.textBaseline = "middle";
    this.drawAncestors(flame);
    for (let level = 0; level < flame.levels.length; ++level) this.drawLevel(flame, level, offset, scale);
    if (moving && part < 1) this.plan();
  }

  private drawAncestors(flame: Flame): void {
    for (let i = 0; i < flame.ancestors; ++i) {
      this.box(0, this.width, i, this.look.dark ? "#2b2e34" : "#dedbd2", ancestorLabel(flame, i), this.look.dark ? "#b9bdc4" : "#4a4a46");
    }
  }

  private drawLevel(flame: Flame, level: number, offset: number, scale: number): void {
    const line = level + flame.ancestors;
    const ink = this.look.dark ? "#f2f2f0" : "#17181a";
    const names = flame.answer.nodes.name;
    const { matches } = this.look;
    for (const node of flame.levels[level]!) {
      const x = (flame.left[node]! - offset) * scale;
      const width = flame.width[node]! * scale;
      if (width < LEAST_DRAWN || x > this.width || x + width < 0) continue;
      const isAll = node === 0 && flame.ancestors === 0;
      let colour = isAll ? (this.look.dark ? "#3a3d44" : "#d8d4c8") : this.colours[names[node]!]!;
      if (matches && !isAll) {
        if (matches[names[node]!] === 1) colour = this.look.dark ? "#b5379b" : "#ee6fd6";
        else colour = this.look.dark ? "#24262b" : "#ece9e2";
      }
      const begin = Math.max(0, x);
      this.box(begin, Math.min(this.width, x + width) - begin, line, colour, width > 3 * this.letter ? labelOf(flame, node) : "", ink);
      if (node === this.look.selected || node === this.look.hovered) this.outline(begin, Math.min(this.width, x + width) - begin, line, node === this.look.selected);
    }
  }

  private box(x: number, width: number, line: number, colour: string, label: string, ink: string): void {
    const { context } = this;
    const y = this.top(line);
    context.fillStyle = colour;
    context.fillRect(x, y, Math.max(LEAST_DRAWN, width - (width > 3 ? 1 : 0)), ROW - 1);
    const room = Math.floor((width - 8) / this.letter);
    if (room < 3 || !label) return;
    context.fillStyle = ink;
    context.fillText(label.length > room ? `${label.slice(0, room - 1)}…` : label, x + 4, y + ROW / 2);
  }

  private outline(x: number, width: number, line: number, strong: boolean): void {
    const { context } = this;
    context.strokeStyle = this.look.dark ? "#ffffff" : "#000000";
    context.lineWidth = strong ? 2 : 1;
    context.strokeRect(x + 1, this.top(line) + 1, Math.max(1, width - 3), ROW - 3);
  }
}
