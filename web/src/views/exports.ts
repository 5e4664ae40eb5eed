// What of the current view can be taken away as a file. A view need not do anything for it: its answers are JSON
// and CSV, its canvases PNG. One that has more to offer says so with useOffer().

import { useEffect } from "preact/hooks";
import { ask } from "../api/client";
import type { Parameters, Resource } from "../api/client";
import type { FlameAnswer } from "../api/types";
import { csvText, tableOfAnswer, tableOfFlame } from "../model/csv";
import type { Table } from "../model/csv";
import { flameSvg, timelineSvg } from "../model/svg";
import type { State } from "../model/state";
import { usePage } from "./hooks";

// What a view says of itself; each member replaces what would be made without it.
export interface Offer {
  svg?: () => string | null | Promise<string | null>; // a whole document
  canvases?: () => HTMLCanvasElement[]; // put below each other in a PNG
  table?: () => Table | Promise<Table>;
}

export interface Asked {
  resource: Resource;
  parameters: Parameters;
}

// Of the view that is shown: what it offers, and what it has asked.
export class Exports {
  offer: Offer | null = null;
  private readonly asked = new Set<Asked>();

  note(asked: Asked): () => void {
    this.asked.add(asked);
    return () => this.asked.delete(asked);
  }

  // Without what the frame of the page asks for itself. What the view is about comes first.
  answers(view: string): Asked[] {
    const own = [...this.asked].filter(({ resource, parameters }) => resource !== "sources" && !parameters.brief);
    return [...own.filter((one) => one.resource === view), ...own.filter((one) => one.resource !== view)];
  }
}

export function useOffer(offer: Offer): void {
  const { exports } = usePage();
  useEffect(() => {
    exports.offer = offer;
    return () => {
      if (exports.offer === offer) exports.offer = null;
    };
  });
}

export interface Subject {
  exports: Exports;
  view: string;
  state: State;
  title: string; // of the source
  dark: boolean;
}

export async function jsonOf({ exports, view }: Subject): Promise<string> {
  const asked = exports.answers(view);
  if (asked.length === 1) return `${JSON.stringify(await ask(asked[0]!.resource, asked[0]!.parameters), null, 1)}\n`;
  const all: Record<string, unknown> = {};
  for (const { resource, parameters } of asked) {
    let name: string = resource;
    for (let again = 2; name in all; ++again) name = `${resource} ${again}`;
    all[name] = await ask(resource, parameters);
  }
  return `${JSON.stringify(all, null, 1)}\n`;
}

// A table asks for the rows that can be seen; a file has them all.
const ALL_ROWS: Partial<Record<Resource, string>> = { table: "10000", diff: "10000", lifetimes: "1000", query: "100000" };

export async function csvOf({ exports, view }: Subject): Promise<string | null> {
  if (exports.offer?.table) return csvText(await exports.offer.table());
  for (const { resource, parameters } of exports.answers(view)) {
    const rows = ALL_ROWS[resource];
    const { first: _first, ...rest } = parameters;
    const answer = await ask(resource, rows ? { ...rest, rows } : parameters);
    const table = resource === "flame" ? tableOfFlame(answer as FlameAnswer) : tableOfAnswer(answer);
    if (table) return csvText(table);
  }
  return null;
}

export async function svgOf({ exports, view, state, title, dark }: Subject): Promise<string | null> {
  if (exports.offer?.svg) return exports.offer.svg();
  for (const { resource, parameters } of exports.answers(view)) {
    if (resource === "flame") {
      const answer = await ask(resource, parameters);
      return flameSvg(answer, { width: 1200, dark, upwards: state.upwards === "1", title, change: state.diff === "absolute" || state.diff === "relative" ? state.diff : null });
    }
    if (resource === "timeline" && view === "timeline") return timelineSvg(await ask(resource, parameters), { dark, title });
  }
  const drawn = largestSvg();
  return drawn ? svgOfElement(drawn, dark) : null;
}

export function hasSvg({ exports, view }: Subject): boolean {
  const answers = exports.answers(view);
  return Boolean(exports.offer?.svg) || answers.some((one) => one.resource === "flame" || (one.resource === "timeline" && view === "timeline")) || largestSvg() !== null;
}

export function canvasesOf({ exports }: Subject): HTMLCanvasElement[] {
  if (exports.offer?.canvases) return exports.offer.canvases();
  return [...document.querySelectorAll<HTMLCanvasElement>("main canvas")].filter((canvas) => canvas.width > 1 && canvas.height > 1);
}

const LEAST_AREA = 40_000; // square pixels; less is an ornament

function largestSvg(): SVGSVGElement | null {
  let best: SVGSVGElement | null = null;
  let most = LEAST_AREA;
  for (const svg of document.querySelectorAll<SVGSVGElement>("main svg")) {
    const box = svg.getBoundingClientRect();
    if (box.width * box.height < most) continue;
    most = box.width * box.height;
    best = svg;
  }
  return best;
}

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline", "visibility", "display"];

// As it is drawn: what the style sheet says becomes attributes.
export function svgOfElement(svg: SVGSVGElement, dark: boolean): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const originals = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, i) => {
    const style = getComputedStyle(originals[i]!);
    element.removeAttribute("class");
    element.removeAttribute("style");
    for (const name of STYLES) {
      const value = style.getPropertyValue(name);
      if (value) element.setAttribute(name, value);
    }
  });
  const box = svg.getBoundingClientRect();
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(Math.round(box.width)));
  copy.setAttribute("height", String(Math.round(box.height)));
  if (!copy.hasAttribute("viewBox")) copy.setAttribute("viewBox", `0 0 ${Math.round(box.width)} ${Math.round(box.height)}`);
  const back = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  const view = copy.getAttribute("viewBox")!.split(/[ ,]+/);
  ["x", "y", "width", "height"].forEach((name, i) => back.setAttribute(name, view[i] ?? "0"));
  back.setAttribute("fill", dark ? "#16181c" : "#fbfaf7");
  copy.insertBefore(back, copy.firstChild);
  return `${new XMLSerializer().serializeToString(copy)}\n`;
}

// One below the other, on the background of the page.
export async function pngOf(subject: Subject): Promise<Blob | null> {
  const canvases = canvasesOf(subject);
  const joined = document.createElement("canvas");
  const context = joined.getContext("2d")!;
  if (canvases.length > 0) {
    joined.width = Math.max(...canvases.map((canvas) => canvas.width));
    joined.height = canvases.reduce((sum, canvas) => sum + canvas.height, 0);
    fill(context, subject.dark);
    let top = 0;
    for (const canvas of canvases) {
      context.drawImage(canvas, 0, top);
      top += canvas.height;
    }
  } else {
    const svg = await svgOf(subject);
    if (svg === null) return null;
    const image = await loadImage(svg);
    joined.width = 2 * image.width;
    joined.height = 2 * image.height;
    fill(context, subject.dark);
    context.drawImage(image, 0, 0, joined.width, joined.height);
  }
  return new Promise((resolve) => joined.toBlob(resolve, "image/png"));
}

function fill(context: CanvasRenderingContext2D, dark: boolean): void {
  context.fillStyle = dark ? "#16181c" : "#fbfaf7";
  context.fillRect(0, 0, context.canvas.width, context.canvas.height);
}

function loadImage(svg: string): Promise<HTMLImageElement> {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  return new Promise<HTMLImageElement>((resolve, reject) => {
    const image = new Image();
    image.onload = () => resolve(image);
    image.onerror = () => reject(new Error("the picture could not be drawn"));
    image.src = url;
  }).finally(() => URL.revokeObjectURL(url));
}

export function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 120_000); // even a busy browser has begun by then
}

// "server.hgt", "flame" and "svg" make "server-flame.svg".
export function fileName(title: string, view: string, ending: string): string {
  const plain = title.replace(/\.(hgt|hg|pb\.gz|gz|txt|heap)$/, "").replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[-.]+/, "").slice(0, 80);
  return `${plain || "heap"}-${view}.${ending}`;
}
