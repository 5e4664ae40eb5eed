// One picture of a tree of calls: pointer, wheel, keys and menu. The flame graph has one of them, a sandwich two.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Parameters } from "../api/client";
import { neighbour, pathToAncestor, pathToNode } from "../model/flame";
import type { Flame } from "../model/flame";
import type { ChangeScale } from "../model/flame_change";
import { FlameCanvas, ROW } from "./flame_canvas";
import type { Hit } from "./flame_canvas";
import { FlameMenu } from "./flame_menu";
import { usePage } from "./hooks";
import { useDark } from "./parts";

const SETTLED_MS = 150; // a wheel that still turns asks for nothing
const DRAG_PIXELS = 4; // less is a click
const FINEST = 32; // times the pixels there are

export interface Pointed {
  flame: Flame;
  node: number;
  words: Parameters; // that ask for the same tree
  stale: boolean; // the tree that these words ask for is still to come
}

interface Props {
  flame: Flame;
  words: Parameters;
  rootWord: "root" | "above"; // the word of the address that says where the picture begins
  title: string;
  testid: string;
  upwards: boolean;
  hideRoot?: boolean;
  center?: boolean; // the root is the function that all of it is about
  width: number;
  matches: Uint8Array | null;
  change: ChangeScale | null;
  loading: boolean;
  onPoint: (pointed: Pointed | null) => void;
  onDetail: (times: number) => void; // the picture was scaled: more boxes can be seen
}

export function FlameGraph({ flame, words, rootWord, title, testid, upwards, hideRoot = false, center = false, width, matches, change, loading, onPoint, onDetail }: Props) {
  const { store } = usePage();
  const dark = useDark();
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawing = useRef<FlameCanvas | null>(null);
  const [selected, setSelected] = useState(-1);
  const [hovered, setHovered] = useState(-1);
  const [menu, setMenu] = useState<{ x: number; y: number; node: number } | null>(null);
  const drag = useRef<{ x: number; moved: boolean } | null>(null);
  const settled = useRef<ReturnType<typeof setTimeout>>();
  const rows = flame.ancestors + flame.levels.length - (hideRoot ? 1 : 0);

  useEffect(() => {
    const made = new FlameCanvas(canvas.current!);
    drawing.current = made;
    (canvas.current as HTMLCanvasElement & { drawing?: FlameCanvas }).drawing = made;
    return () => made.dispose();
  }, []);
  useEffect(() => {
    setSelected(-1);
    setHovered(-1);
    setMenu(null);
  }, [flame]);
  useEffect(
    () => drawing.current?.show(flame, { dark, upwards, hideRoot, center, selected, hovered, matches, change }),
    [flame, dark, upwards, hideRoot, center, selected, hovered, matches, change],
  );
  useEffect(() => drawing.current?.resize(width, rows * ROW), [width, rows]);
  const shown = hovered >= 0 ? hovered : selected;
  useEffect(() => onPoint(shown >= 0 ? { flame, node: shown, words, stale: loading } : null), [flame, shown, words, loading, onPoint]);

  const begin = useCallback((path: string) => store.change({ [rootWord]: path }), [store, rootWord]);
  const zoom = useCallback(
    (node: number) => {
      if (node < 0) return;
      drawing.current?.zoomTo(node);
      begin(pathToNode(flame, node));
    },
    [flame, begin],
  );
  const zoomOut = useCallback(() => {
    if (drawing.current && drawing.current.scale() > 1) drawing.current.showWhole();
    else if (flame.ancestors > 0) begin(pathToAncestor(flame, flame.ancestors - 1));
  }, [flame, begin]);
  const scaled = useCallback(() => {
    clearTimeout(settled.current);
    settled.current = setTimeout(() => onDetail(Math.min(FINEST, 2 ** Math.ceil(Math.log2(drawing.current?.scale() ?? 1)))), SETTLED_MS);
  }, [onDetail]);
  // Not by an attribute: the page must not scroll, which only such a listener can say.
  useEffect(() => {
    const element = canvas.current!;
    const onWheel = (event: WheelEvent) => {
      if (!drawing.current) return;
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
      const amount = event.deltaX || event.deltaY;
      if (event.ctrlKey || event.metaKey || event.altKey) {
        const box = element.getBoundingClientRect();
        if (drawing.current.scaleAt(event.clientX - box.left, Math.exp(-event.deltaY / 200))) scaled();
      } else if (!sideways || !drawing.current.pan(amount)) {
        return; // up and down: as everywhere
      }
      event.preventDefault();
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, [scaled]);
  useEffect(() => () => clearTimeout(settled.current), []);

  const hitOf = (event: MouseEvent): Hit | null => {
    const box = canvas.current!.getBoundingClientRect();
    return drawing.current?.hit(event.clientX - box.left, event.clientY - box.top) ?? null;
  };
  const onClick = (event: MouseEvent) => {
    const moved = drag.current?.moved;
    drag.current = null;
    const hit = hitOf(event);
    setMenu(null);
    if (!hit || moved) return;
    if (hit.node < 0) begin(pathToAncestor(flame, hit.ancestor));
    else if (hit.node === 0) zoomOut();
    else zoom(hit.node);
  };
  const onMove = (event: MouseEvent) => {
    if (drag.current && event.buttons === 1) {
      const by = drag.current.x - event.clientX;
      if (drag.current.moved || Math.abs(by) >= DRAG_PIXELS) {
        drag.current = { x: event.clientX, moved: true };
        drawing.current?.pan(by);
        return;
      }
    }
    setHovered(hitOf(event)?.node ?? -1);
  };
  const openMenu = (node: number, x: number, y: number) => setMenu({ x, y, node });
  const onKey = (event: KeyboardEvent) => {
    const inwards = upwards ? "ArrowUp" : "ArrowDown";
    const outwards = upwards ? "ArrowDown" : "ArrowUp";
    const at = selected < 0 ? 0 : selected;
    const box = canvas.current!.getBoundingClientRect();
    if (event.key === inwards) setSelected(selected < 0 ? 0 : neighbour(flame, at, "in"));
    else if (event.key === outwards) setSelected(neighbour(flame, at, "out"));
    else if (event.key === "ArrowLeft") setSelected(neighbour(flame, at, "left"));
    else if (event.key === "ArrowRight") setSelected(neighbour(flame, at, "right"));
    else if (event.key === "Enter") zoom(selected);
    else if (event.key === "Escape" || event.key === "Backspace") zoomOut();
    else if (event.key === "+" || event.key === "-") {
      if (drawing.current?.scaleAt(drawing.current.placeOf(at).x, event.key === "+" ? 1.5 : 1 / 1.5)) scaled();
    } else if ((event.key === "ContextMenu" || event.key === "m" || (event.key === "F10" && event.shiftKey)) && selected > 0) {
      const place = drawing.current!.placeOf(selected);
      openMenu(selected, box.left + place.x, box.top + place.y);
    } else return;
    event.preventDefault();
  };

  return (
    <>
      <canvas
        ref={canvas}
        tabIndex={0}
        role="application"
        aria-roledescription="flame graph"
        aria-busy={loading}
        aria-label={`${title}, ${rows} levels. Arrow keys move, Enter zooms in, Escape zooms out, M opens the menu of a call.`}
        data-testid={testid}
        onClick={onClick}
        onMouseDown={(event) => {
          if (event.button === 0) drag.current = { x: event.clientX, moved: false };
        }}
        onMouseMove={onMove}
        onMouseLeave={() => setHovered(-1)}
        onKeyDown={onKey}
        onContextMenu={(event) => {
          const hit = hitOf(event);
          if (!hit || hit.node < 0 || (hit.node === 0 && flame.ancestors === 0)) return;
          event.preventDefault();
          openMenu(hit.node, event.clientX, event.clientY);
        }}
      />
      {menu && (
        <FlameMenu
          x={menu.x}
          y={menu.y}
          words={words}
          path={pathToNode(flame, menu.node)}
          onZoom={menu.node > 0 ? () => zoom(menu.node) : null}
          onClose={() => {
            setMenu(null);
            canvas.current?.focus();
          }}
        />
      )}
    </>
  );
}
