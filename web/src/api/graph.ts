// The call graph, with a place for everything.

import type { Entity } from "./tree";

export interface GraphBox extends Entity {
  name: string;
  flat: number;
  cum: number;
  flat_text: string;
  cum_text: string;
  share: number;
  font: number;
  lines: string[];
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface GraphArrow {
  from: number;
  to: number;
  value: number;
  text: string;
  share: number;
  residual: boolean;
  pen: number;
  curve: string;
  label_x: number;
  label_y: number;
}

export interface GraphAnswer {
  type: string;
  width: number;
  height: number;
  left_out: number;
  boxes: GraphBox[];
  arrows: GraphArrow[];
}
