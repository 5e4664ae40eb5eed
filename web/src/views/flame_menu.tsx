// What can be done with a call of a flame graph. Its function is asked for when the menu opens: names in the
// picture are short.

import { useEffect, useState } from "preact/hooks";
import { ask } from "../api/client";
import type { Parameters } from "../api/client";
import type { FrameAnswer } from "../api/types";
import { exactly } from "../model/flame";
import { usePage } from "./hooks";
import { Menu } from "./menu";
import type { MenuItem } from "./menu";

interface Props {
  x: number;
  y: number;
  words: Parameters;
  path: string;
  onZoom: (() => void) | null;
  onClose: () => void;
}

const nameOf = (frame: { function?: string; file?: string; module?: string }) => frame.function ?? frame.file ?? frame.module ?? "";

export function FlameMenu({ x, y, words, path, onZoom, onClose }: Props) {
  const { state, store } = usePage();
  const [frame, setFrame] = useState<FrameAnswer | null>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    const controller = new AbortController();
    ask("frame", { ...words, root: path }, controller.signal).then(setFrame, () => setFailed(true));
    return () => controller.abort();
  }, [words, path]);
  if (!frame && !failed) return null;
  const items: MenuItem[] = onZoom ? [{ title: "Zoom in", act: onZoom }] : [];
  if (frame) {
    const pattern = exactly(nameOf(frame));
    const away = { root: "", above: "" };
    items.push(
      { title: "Callers and callees", act: () => store.change({ ...away, through: pattern, callers: "both" }) },
      { title: "Only stacks through it", act: () => store.change({ ...away, focus: pattern }) },
      { title: "Leave its stacks out", act: () => store.change({ ...away, ignore: pattern }) },
      state.collapse === pattern
        ? { title: "Show its recursion", act: () => store.change({ ...away, collapse: "" }) }
        : { title: "Collapse its recursion", act: () => store.change({ ...away, collapse: pattern }) },
      { title: "Copy the stack", act: () => void navigator.clipboard.writeText(frame.stack.map(nameOf).join("\n")) },
    );
    if (frame.file) {
      const file = frame.file;
      items.push({ title: "Open the source", act: () => store.change({ ...away, search: "", view: "source", file, line: frame.line ? String(frame.line) : "" }) });
    }
  }
  return <Menu x={x} y={y} items={items} onClose={onClose} />;
}
