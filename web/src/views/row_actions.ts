// What can be done with a function wherever its name stands: in tables, trees and graphs.

import type { Entity } from "../api/tree";
import { patternOf } from "../model/pattern";
import type { State, Store } from "../model/state";
import { stateText, withWords } from "../model/state";
import type { MenuItem } from "./menu";

// Words that belong to one picture and mean nothing in another.
const ELSEWHERE = { root: "", open: "", search: "", order: "", reverse: "" };

export function callersLink(state: State, entity: Entity): string {
  return `#${stateText(withWords(state, { ...ELSEWHERE, view: "callers", of: patternOf(entity) }))}`;
}

export function sourceWords(entity: Entity): Record<string, string> {
  return { ...ELSEWHERE, view: "source", file: entity.file ?? "", line: entity.line ? String(entity.line) : "", of: "" };
}

// `path` leads to it in the tree, where there is one.
export function rowActions(store: Store, entity: Entity, path?: string): MenuItem[] {
  const pattern = patternOf(entity);
  const here = store.state;
  const items: MenuItem[] = [
    { title: "Only stacks through it", act: () => store.change({ focus: pattern, root: "", open: "" }) },
    { title: "Leave its stacks out", act: () => store.change({ ignore: pattern, root: "", open: "" }) },
    path === undefined
      ? { title: "Open in flame graph", act: () => store.change({ ...ELSEWHERE, view: "flame", focus: pattern }) }
      : { title: "Open in flame graph", act: () => store.change({ ...ELSEWHERE, view: "flame", root: path }) },
  ];
  if (here.view !== "tree") items.push({ title: "Open in call tree", act: () => store.change({ ...ELSEWHERE, view: "tree", focus: pattern, callers: "" }) });
  if (here.view !== "callers") items.push({ title: "Callers and callees", act: () => store.change({ ...ELSEWHERE, view: "callers", of: pattern }) });
  if (entity.file && here.view !== "source") items.push({ title: "Open source", act: () => store.change(sourceWords(entity)) });
  const name = entity.function ?? entity.file ?? entity.module;
  if (name) items.push({ title: "Copy the name", act: () => void navigator.clipboard.writeText(name) });
  return items;
}
