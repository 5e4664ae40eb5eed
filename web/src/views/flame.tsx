// The flame graph: who called whom to hold the memory.

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ask } from "../api/client";
import { mainEstimate, treeName, treeValueText } from "../model/figures";
import { ancestorLabel, labelOf, layOut, matcherOf, neighbour, pathToAncestor, pathToNode, search } from "../model/flame";
import type { Flame } from "../model/flame";
import { formatShare } from "../model/format";
import { FlameCanvas, ROW } from "./flame_canvas";
import type { Hit } from "./flame_canvas";
import { FrameDetails } from "./frame_details";
import { useAsk, useFilter, usePage } from "./hooks";
import { Menu } from "./menu";
import type { MenuItem } from "./menu";
import { Problem, Toggle, useDark, useSize } from "./parts";

export function FlameView() {
  const { state, store } = usePage();
  const filter = useFilter();
  const root = state.root ?? "";
  const [area, size] = useSize<HTMLDivElement>();
  const width = Math.max(200, Math.round(size.width / 100) * 100);
  const parameters = useMemo(
    () => ({
      ...filter,
      ...(root ? { root } : {}),
      ...(state.callers ? { callers: "1" } : {}),
      width: String(width * 2),
    }),
    [filter, root, state.callers, width],
  );
  const { data, error, loading } = useAsk("flame", size.width > 0 ? parameters : null);
  const flame = useMemo(() => (data ? layOut(data) : null), [data]);
  const matches = useMemo(() => {
    const matcher = matcherOf(state.search ?? "");
    return flame && matcher ? search(flame, matcher) : null;
  }, [flame, state.search]);
  // The call that was zoomed into is not there any more: show the whole.
  useEffect(() => {
    if (data && !data.found && root && !loading) store.change({ root: "" }, true);
  }, [data, loading, root, store]);

  return (
    <section class="view flame" aria-label="Flame graph">
      <div class="bar">
        <Toggle word="callers" values={[["", "top-down", "callers above what they call"], ["1", "bottom-up", "what allocates, then its callers"]]} also={{ root: "" }} />
        <Toggle word="upwards" values={[["", "icicle", "the root at the top"], ["1", "flame", "the root at the bottom"]]} />
        <label class="search">
          <span>search</span>
          <input
            id="flame-search"
            type="search"
            placeholder="function ( / )"
            value={state.search ?? ""}
            onInput={(event) => store.change({ search: event.currentTarget.value }, true)}
          />
        </label>
        {matches && <span class="matched" role="status">matched {formatShare(matches.share, 1)}</span>}
        <span class="grow" />
        {flame && <Total flame={flame} />}
      </div>
      {flame && <Crumbs flame={flame} />}
      <Problem error={error} />
      <div class="flame-area" ref={area}>
        {flame && flame.answer.value > 0 && <Graph flame={flame} width={size.width} matches={matches?.names ?? null} loading={loading} />}
        {flame && !(flame.answer.value > 0) && <p class="empty">Nothing here: no stack is left by the filter, or nothing was allocated.</p>}
        {!flame && !error && <p class="empty">reading…</p>}
      </div>
    </section>
  );
}

function Total({ flame }: { flame: Flame }) {
  const { answer } = flame;
  return (
    <span class="total" data-testid="flame-total">
      {treeName(answer.sort, answer.name)} <b>{treeValueText(answer.value, answer.sort, answer.unit)}</b>
      {mainEstimate(answer.selected).value !== mainEstimate(answer.total).value && answer.sort === "live" && (
        <> of {treeValueText(mainEstimate(answer.total).value, "live", answer.unit)}</>
      )}
      {answer.shrunk < 0 && <>; what shrank is left out: {treeValueText(answer.shrunk, "live", answer.unit)}</>}
      {answer.cut && <> (the smallest boxes are left out)</>}
    </span>
  );
}

// The way from the root to what is shown.
function Crumbs({ flame }: { flame: Flame }) {
  const { store } = usePage();
  if (flame.ancestors === 0) return null;
  const places = Array.from({ length: flame.ancestors + 1 }, (_, i) => i);
  return (
    <nav class="crumbs" aria-label="Where this is">
      {places.map((i) => (
        <button key={i} type="button" disabled={i === flame.ancestors} title={ancestorLabel(flame, i)} onClick={() => store.change({ root: pathToAncestor(flame, i) })}>
          {ancestorLabel(flame, i)}
        </button>
      ))}
    </nav>
  );
}

interface GraphProps {
  flame: Flame;
  width: number;
  matches: Uint8Array | null;
  loading: boolean;
}

function Graph({ flame, width, matches, loading }: GraphProps) {
  const { state, store } = usePage();
  const filter = useFilter();
  const dark = useDark();
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawing = useRef<FlameCanvas | null>(null);
  const [selected, setSelected] = useState(-1);
  const [hovered, setHovered] = useState(-1);
  const [menu, setMenu] = useState<{ x: number; y: number; node: number } | null>(null);
  const upwards = state.upwards === "1";
  const rows = flame.ancestors + flame.levels.length;

  useEffect(() => {
    drawing.current = new FlameCanvas(canvas.current!);
    return () => drawing.current?.dispose();
  }, []);
  useEffect(() => {
    setSelected(-1);
    setHovered(-1);
  }, [flame]);
  useEffect(() => drawing.current?.show(flame, { dark, upwards, selected, hovered, matches }), [flame, dark, upwards, selected, hovered, matches]);
  useEffect(() => drawing.current?.resize(width, rows * ROW), [width, rows]);

  const zoom = useCallback(
    (node: number) => {
      if (node < 0) return;
      drawing.current?.zoomTo(node);
      store.change({ root: pathToNode(flame, node) });
    },
    [flame, store],
  );
  const zoomOut = useCallback(() => {
    if (flame.ancestors > 0) store.change({ root: pathToAncestor(flame, flame.ancestors - 1) });
  }, [flame, store]);

  const hitOf = (event: MouseEvent): Hit | null => {
    const box = canvas.current!.getBoundingClientRect();
    return drawing.current?.hit(event.clientX - box.left, event.clientY - box.top) ?? null;
  };
  const onClick = (event: MouseEvent) => {
    const hit = hitOf(event);
    setMenu(null);
    if (!hit) return;
    if (hit.node < 0) store.change({ root: pathToAncestor(flame, hit.ancestor) });
    else if (hit.node === 0) zoomOut();
    else zoom(hit.node);
  };
  const onKey = (event: KeyboardEvent) => {
    const inwards = upwards ? "ArrowUp" : "ArrowDown";
    const outwards = upwards ? "ArrowDown" : "ArrowUp";
    const at = selected < 0 ? 0 : selected;
    const go = (node: number) => setSelected(node);
    if (event.key === inwards) go(selected < 0 ? 0 : neighbour(flame, at, "in"));
    else if (event.key === outwards) go(neighbour(flame, at, "out"));
    else if (event.key === "ArrowLeft") go(neighbour(flame, at, "left"));
    else if (event.key === "ArrowRight") go(neighbour(flame, at, "right"));
    else if (event.key === "Enter") zoom(selected);
    else if (event.key === "Escape" || event.key === "Backspace") zoomOut();
    else return;
    event.preventDefault();
  };

  const shown = hovered >= 0 ? hovered : selected;
  const items = (node: number): MenuItem[] => {
    const path = pathToNode(flame, node);
    const nameOf = async () => {
      const frame = await ask("frame", { ...filter, root: path, ...(state.callers ? { callers: "1" } : {}) });
      return frame;
    };
    const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
    const set = (word: "focus" | "ignore") => () =>
      void nameOf().then((frame) => store.change({ [word]: `^${escaped(frame.function ?? frame.file ?? frame.module ?? "")}$`, root: "" }));
    return [
      { title: "Zoom in", act: () => zoom(node) },
      { title: "Only stacks through it", act: set("focus") },
      { title: "Leave its stacks out", act: set("ignore") },
      { title: "Who calls it", act: () => void nameOf().then((frame) => store.change({ focus: `^${escaped(frame.function ?? "")}$`, callers: "1", root: "" })) },
      {
        title: "Copy the stack",
        act: () => void nameOf().then((frame) => navigator.clipboard.writeText(frame.stack.map((one) => one.function ?? one.file ?? one.module ?? "").join("\n"))),
      },
    ];
  };

  return (
    <>
      <div class={`flame-scroll${loading ? " loading" : ""}`}>
        <canvas
          ref={canvas}
          tabIndex={0}
          role="application"
          aria-roledescription="flame graph"
          aria-busy={loading}
          aria-label={`Flame graph, ${rows} levels. Arrow keys move, Enter zooms in, Escape zooms out.`}
          data-testid="flame-canvas"
          onClick={onClick}
          onMouseMove={(event) => setHovered(hitOf(event)?.node ?? -1)}
          onMouseLeave={() => setHovered(-1)}
          onKeyDown={onKey}
          onContextMenu={(event) => {
            const hit = hitOf(event);
            if (!hit || hit.node <= 0) return;
            event.preventDefault();
            setMenu({ x: event.clientX, y: event.clientY, node: hit.node });
          }}
        />
      </div>
      <FrameDetails flame={flame} node={shown} callers={state.callers === "1"} label={shown >= 0 ? labelOf(flame, shown) : ""} />
      {menu && <Menu x={menu.x} y={menu.y} items={items(menu.node)} onClose={() => setMenu(null)} />}
    </>
  );
}
