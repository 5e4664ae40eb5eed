// Draws a flame graph on a canvas and tells what is under the pointer. Knows nothing of the page around it.
//
// What is drawn is a window of the picture: all of it, or the part that a wheel or a drag chose.

import { boxColour } from "../model/colours";
import { ancestorLabel, beginsWithAll, firstFrom, labelOf, nodeAt } from "../model/flame";
import type { Flame } from "../model/flame";
import { changeColours, SHADES, shadesOf } from "../model/flame_change";
import type { ChangeScale } from "../model/flame_change";
import { cutName } from "../model/names";

export const ROW = 20;
const FONT = "12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
const LEAST_DRAWN = 0.4; // pixels
const LEAST_TEXT = 3; // letters
const ZOOM_MS = 160;
const MOST_SCALE = 64;

export interface Look {
  dark: boolean;
  upwards: boolean; // the root at the bottom
  hideRoot: boolean; // somebody else draws it
  center: boolean; // it is what the picture is about
  selected: number; // node; -1 none
  hovered: number;
  matches: Uint8Array | null; // by name
  change: ChangeScale | null; // colours tell what changed
}

export interface Hit {
  node: number; // -1: an ancestor
  ancestor: number;
}

interface Window {
  left: number;
  width: number;
}
const WHOLE: Window = { left: 0, width: 1 };

export class FlameCanvas {
  private readonly context: CanvasRenderingContext2D;
  private flame: Flame | null = null;
  private look: Look = { dark: false, upwards: false, hideRoot: false, center: false, selected: -1, hovered: -1, matches: null, change: null };
  private width = 0;
  private height = 0;
  private letter = 7;
  private colours: string[] = []; // by name, or by shade
  private shades: Int8Array | null = null;
  private labels: string[] = []; // by node, those that were needed
  private frame = 0;
  private shown = WHOLE;
  private from = WHOLE;
  private to = WHOLE;
  private begun = 0; // of a movement; 0: it stands still
  frames = 0; // drawn so far

  constructor(private readonly canvas: HTMLCanvasElement) {
    const context = canvas.getContext("2d", { alpha: false });
    if (!context) throw new Error("this browser has no canvas");
    this.context = context;
  }

  show(flame: Flame, look: Look): void {
    const other = flame !== this.flame;
    const changed = other || look.dark !== this.look.dark || look.change !== this.look.change;
    if (other) this.labels = [];
    // The same call with more detail: the window stays where it is.
    if (other && this.flame && !sameRoot(flame, this.flame)) this.shown = WHOLE;
    if (other) this.begun = 0;
    this.flame = flame;
    this.look = look;
    if (changed) {
      this.shades = look.change ? shadesOf(flame, look.change) : null;
      this.colours = this.shades ? changeColours(look.dark) : coloursOf(flame, look.dark);
    }
    this.plan();
  }

  // How much finer than the whole the picture is.
  scale(): number {
    return 1 / (this.begun > 0 ? this.to.width : this.shown.width);
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
    if (!flame || node < 0) return;
    this.move({ left: flame.left[node]!, width: Math.max(flame.width[node]!, 1e-9) });
  }

  // Wider or narrower around a point of the canvas; whether anything changed.
  scaleAt(x: number, factor: number): boolean {
    const now = this.begun > 0 ? this.to : this.shown;
    const width = Math.min(1, Math.max(1 / MOST_SCALE, now.width / factor));
    if (width === now.width) return false;
    const at = now.left + (x / this.width) * now.width;
    this.jump({ left: at - (x / this.width) * width, width });
    return true;
  }

  // By pixels; whether anything changed.
  pan(pixels: number): boolean {
    const before = this.shown.left;
    this.jump({ left: this.shown.left + (pixels / this.width) * this.shown.width, width: this.shown.width });
    return this.shown.left !== before;
  }

  showWhole(): void {
    this.move(WHOLE);
  }

  hit(x: number, y: number): Hit | null {
    const flame = this.flame;
    if (!flame || this.width === 0) return null;
    const line = (this.look.upwards ? Math.floor((this.height - y) / ROW) : Math.floor(y / ROW)) + (this.look.hideRoot ? 1 : 0);
    if (line < 0) return null;
    if (line < flame.ancestors) return { node: -1, ancestor: line };
    const node = nodeAt(flame, line - flame.ancestors, this.shown.left + (x / this.width) * this.shown.width);
    return node < 0 ? null : { node, ancestor: -1 };
  }

  // Where a node is on the canvas, for a menu that the keyboard opens.
  placeOf(node: number): { x: number; y: number } {
    const flame = this.flame;
    if (!flame || node < 0) return { x: 0, y: 0 };
    const x = ((flame.left[node]! - this.shown.left) / this.shown.width) * this.width;
    return { x: Math.min(this.width, Math.max(0, x)), y: this.top(flame.depth[node]! + flame.ancestors) + ROW };
  }

  dispose(): void {
    cancelAnimationFrame(this.frame);
  }

  private jump(to: Window): void {
    this.begun = 0;
    this.shown = { left: Math.min(1 - to.width, Math.max(0, to.left)), width: to.width };
    this.plan();
  }

  private move(to: Window): void {
    if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) {
      if (to === WHOLE) this.jump(to);
      return;
    }
    this.from = this.shown;
    this.to = to;
    this.begun = performance.now();
    this.plan();
  }

  private plan(): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame((now) => this.draw(now));
  }

  private top(line: number): number {
    const row = line - (this.look.hideRoot ? 1 : 0);
    return this.look.upwards ? this.height - (row + 1) * ROW : row * ROW;
  }

  private draw(now: number): void {
    const flame = this.flame;
    const { context } = this;
    ++this.frames;
    context.fillStyle = this.look.dark ? "#16181c" : "#fbfaf7";
    context.fillRect(0, 0, this.width, this.height);
    if (!flame) return;
    if (this.begun > 0) {
      const part = Math.min(1, Math.max(0, now - this.begun) / ZOOM_MS);
      const eased = 1 - (1 - part) ** 3;
      const width = this.from.width * (this.to.width / this.from.width) ** eased;
      const along = this.to.width === this.from.width ? eased : (this.from.width - width) / (this.from.width - this.to.width);
      this.shown = { left: this.from.left + (this.to.left - this.from.left) * along, width };
      if (part === 1) this.begun = 0;
    }
    context.font = FONT;
    context.textBaseline = "middle";
    this.drawAncestors(flame);
    for (let level = 0; level < flame.levels.length; ++level) this.drawLevel(flame, level);
    this.drawOutline(flame, this.look.hovered, 1);
    this.drawOutline(flame, this.look.selected, 2);
    if (this.begun > 0) this.plan();
  }

  private drawAncestors(flame: Flame): void {
    for (let i = this.look.hideRoot ? 1 : 0; i < flame.ancestors; ++i) {
      if (i === 0 && this.look.center) {
        this.drawCenter(ancestorLabel(flame, 0));
        continue;
      }
      this.box(0, this.width, i, this.look.dark ? "#2b2e34" : "#dedbd2");
      this.text(0, this.width, i, ancestorLabel(flame, i), this.look.dark ? "#b9bdc4" : "#4a4a46");
    }
  }

  // The eye finds it first: light where all else is dark.
  private drawCenter(label: string): void {
    this.box(0, this.width, 0, this.look.dark ? "#d9dbde" : "#3b3f46");
    this.text(0, this.width, 0, label, this.look.dark ? "#17181a" : "#ffffff");
  }

  private colourOf(flame: Flame, node: number): string {
    const { dark, matches } = this.look;
    const name = flame.answer.nodes.name[node]!;
    if (node === 0 && beginsWithAll(flame) && !this.shades) return dark ? "#3a3d44" : "#d8d4c8";
    if (matches && !(node === 0 && beginsWithAll(flame))) {
      if (matches[name] !== 1) return dark ? "#24262b" : "#ece9e2";
      if (!this.shades) return dark ? "#b5379b" : "#ee6fd6";
    }
    return this.shades ? this.colours[this.shades[node]! + SHADES]! : this.colours[name]!;
  }

  // Boxes first, then their names: a canvas is fastest if it is asked for the same again and again.
  private drawLevel(flame: Flame, level: number): void {
    const line = level + flame.ancestors;
    if (line === 0 && this.look.hideRoot) return;
    if (line === 0 && this.look.center) return this.drawCenter(labelOf(flame, 0));
    const nodes = flame.levels[level]!;
    const { left, width } = this.shown;
    const scale = this.width / width;
    const least = LEAST_DRAWN / scale;
    const begin = firstFrom(flame, nodes, left);
    const end = left + width;
    const broad = (LEAST_TEXT * this.letter + 8) / scale;
    let named = 0;
    for (let i = begin; i < nodes.length; ++i) {
      const node = nodes[i]!;
      if (flame.left[node]! > end) break;
      if (flame.width[node]! < least) continue;
      if (flame.width[node]! >= broad) ++named;
      const x = Math.max(0, (flame.left[node]! - left) * scale);
      this.box(x, Math.min(this.width, (flame.left[node]! + flame.width[node]! - left) * scale) - x, line, this.colourOf(flame, node));
    }
    const ink = this.look.dark ? "#f2f2f0" : "#17181a";
    for (let i = begin; i < nodes.length && named > 0; ++i) {
      const node = nodes[i]!;
      if (flame.left[node]! > end) break;
      if (flame.width[node]! < broad) continue;
      --named;
      const x = Math.max(0, (flame.left[node]! - left) * scale);
      this.text(x, Math.min(this.width, (flame.left[node]! + flame.width[node]! - left) * scale) - x, line, (this.labels[node] ??= labelOf(flame, node)), ink);
    }
  }

  private box(x: number, width: number, line: number, colour: string): void {
    this.context.fillStyle = colour;
    this.context.fillRect(x, this.top(line), Math.max(LEAST_DRAWN, width - (width > 3 ? 1 : 0)), ROW - 1);
  }

  private text(x: number, width: number, line: number, label: string, ink: string): void {
    const room = Math.floor((width - 8) / this.letter);
    if (room < LEAST_TEXT) return;
    this.context.fillStyle = ink;
    this.context.fillText(cutName(label, room), x + 4, this.top(line) + ROW / 2);
  }

  private drawOutline(flame: Flame, node: number, thick: number): void {
    const line = node < 0 ? 0 : flame.depth[node]! + flame.ancestors;
    if (node < 0 || (line === 0 && this.look.hideRoot)) return;
    const scale = this.width / this.shown.width;
    const x = Math.max(0, (flame.left[node]! - this.shown.left) * scale);
    const end = Math.min(this.width, (flame.left[node]! + flame.width[node]! - this.shown.left) * scale);
    if (end < x) return;
    const { context } = this;
    context.strokeStyle = this.look.dark ? "#ffffff" : "#000000";
    context.lineWidth = thick;
    context.strokeRect(x + 1, this.top(line) + 1, Math.max(1, end - x - 3), ROW - 3);
  }
}

// A hue for each module; where all is in one, for each namespace.
function coloursOf(flame: Flame, dark: boolean): string[] {
  const { names } = flame.answer;
  const several = names.some((name) => name.module !== names[0]!.module);
  return names.map((name) => boxColour(several ? (name.module ?? "") : namespaceOf(name.label), name.label, dark));
}

function namespaceOf(label: string): string {
  const colons = label.indexOf("::");
  return colons > 0 ? label.slice(0, colons) : (/^[A-Za-z]+/.exec(label)?.[0] ?? "");
}

function sameRoot(a: Flame, b: Flame): boolean {
  const text = (flame: Flame) => JSON.stringify([flame.answer.value, flame.answer.path.map((place) => (place.name === null ? null : flame.answer.names[place.name]!.step))]);
  return text(a) === text(b);
}
