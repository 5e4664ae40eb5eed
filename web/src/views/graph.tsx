// The call graph: boxes are functions, larger the more they hold themselves; arrows are calls, thicker the more goes
// through them. It is dragged and zoomed by mouse, wheel, fingers, keys and buttons.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { GraphAnswer, GraphBox } from "../api/graph";
import { matcherOf } from "../model/flame";
import { formatCount } from "../model/format";
import { bringIntoView, fit, moved, zoomAt } from "../model/pan_zoom";
import type { Placed } from "../model/pan_zoom";
import { useAsk, useFilter, usePage } from "./hooks";
import { Menu } from "./menu";
import { Problem, useSize } from "./parts";
import type { Size } from "./parts";
import { rowActions } from "./row_actions";
import "./graph.css";

const COUNTS = ["20", "40", "80", "160", "320"];

export function GraphView() {
  const { state, store } = usePage();
  const filter = useFilter();
  const nodes = state.nodes ?? "80";
  const parameters = useMemo(() => ({ ...filter, nodes }), [filter, nodes]);
  const { data, error, loading } = useAsk("graph", parameters);
  const [area, size] = useSize<HTMLDivElement>();
  return (
    <section class="view graph" aria-label="Call graph">
      <div class="bar">
        <label>
          functions{" "}
          <select value={nodes} onChange={(event) => store.change({ nodes: event.currentTarget.value === "80" ? "" : event.currentTarget.value })}>
            {[...new Set([...COUNTS, nodes])].map((count) => <option key={count} value={count}>{count}</option>)}
          </select>
        </label>
        <label class="search">
          <span>find</span>
          <input type="search" placeholder="function ( / )" value={state.search ?? ""} onInput={(event) => store.change({ search: event.currentTarget.value }, true)} />
        </label>
        <span class="grow" />
        {data && (
          <span class="total">
            {formatCount(data.boxes.length)} functions, {formatCount(data.arrows.length)} calls
            {data.left_out > 0 && <> · {formatCount(data.left_out)} that hold little are left out</>}
            {state.granularity === "modules" && <> · there is no graph by module</>}
          </span>
        )}
      </div>
      <Problem error={error} />
      <div class="graph-area" ref={area}>
        {data && data.boxes.length > 0 && size.width > 0 && <Picture graph={data} size={size} loading={loading} />}
        {data && data.boxes.length === 0 && <p class="empty">Nothing here: no stack is left by the filter, or nothing was allocated.</p>}
        {!data && !error && <p class="empty">reading…</p>}
      </div>
    </section>
  );
}

// In steps, so that colours come from the style sheet and hold in light and dark.
const stepOf = (share: number) => (share < 0 ? "minus" : String(Math.min(5, Math.floor(Math.sqrt(Math.min(1, share)) * 6))));

function Picture({ graph, size, loading }: { graph: GraphAnswer; size: Size; loading: boolean }) {
  const { state, store } = usePage();
  const box = useRef<HTMLDivElement>(null);
  const [placed, setPlaced] = useState<Placed>(() => fit(graph.width, graph.height, size));
  const [chosen, setChosen] = useState(0);
  const [hovered, setHovered] = useState(-1);
  const [menu, setMenu] = useState<{ x: number; y: number; at: number } | null>(null);
  // A graph of another shape is shown as a whole; the same one a moment later stays where it is.
  const shape = `${graph.boxes.length} ${Math.round(graph.width)} ${Math.round(graph.height)}`;
  const last = useRef(shape);
  useEffect(() => {
    if (last.current === shape) return;
    last.current = shape;
    setPlaced(fit(graph.width, graph.height, size));
    setChosen(0);
  }, [shape, size.width, size.height]);
  const found = useMemo(() => {
    const matches = matcherOf(state.search ?? "");
    return matches ? new Set(graph.boxes.flatMap((one, i) => (matches(one.name) ? [i] : []))) : null;
  }, [graph, state.search]);

  // Wheel events must be stopped before the page zooms, which a listener of preact cannot promise.
  useEffect(() => {
    const element = box.current!;
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const at = element.getBoundingClientRect();
      const factor = Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0015) * (event.ctrlKey ? 4 : 1));
      setPlaced((before) => zoomAt(before, factor, event.clientX - at.left, event.clientY - at.top));
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, []);

  // One finger or the mouse moves it, two fingers zoom.
  const pointers = useRef(new Map<number, { x: number; y: number }>());
  const dragged = useRef(false);
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    if (pointers.current.size === 0) dragged.current = false;
    pointers.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
  };
  const onPointerMove = (event: PointerEvent) => {
    const before = pointers.current.get(event.pointerId);
    if (!before) return;
    const now = { x: event.clientX, y: event.clientY };
    if (pointers.current.size === 1) {
      if (!dragged.current && Math.hypot(now.x - before.x, now.y - before.y) < 4) return;
      if (!dragged.current) box.current!.setPointerCapture(event.pointerId);
      setPlaced((at) => moved(at, now.x - before.x, now.y - before.y));
    } else {
      const other = [...pointers.current].find(([id]) => id !== event.pointerId)![1];
      const factor = Math.hypot(now.x - other.x, now.y - other.y) / Math.max(1, Math.hypot(before.x - other.x, before.y - other.y));
      const at = box.current!.getBoundingClientRect();
      setPlaced((was) => moved(zoomAt(was, factor, (now.x + other.x) / 2 - at.left, (now.y + other.y) / 2 - at.top), (now.x - before.x) / 2, (now.y - before.y) / 2));
    }
    dragged.current = true;
    pointers.current.set(event.pointerId, now);
  };
  const onPointerUp = (event: PointerEvent) => pointers.current.delete(event.pointerId);

  const zoom = (factor: number) => setPlaced((before) => zoomAt(before, factor, size.width / 2, size.height / 2));
  const whole = () => setPlaced(fit(graph.width, graph.height, size));
  const choose = (at: number) => {
    setChosen(at);
    setPlaced((before) => bringIntoView(before, graph.boxes[at]!, size));
  };
  const menuAt = (at: number) => {
    const one = graph.boxes[at]!;
    const place = box.current!.getBoundingClientRect();
    setMenu({ x: place.left + placed.x + one.x * placed.scale, y: place.top + placed.y + (one.y + one.height) * placed.scale, at });
  };
  // Along the heaviest calls, or through all functions by weight.
  const heaviest = (outwards: boolean) => graph.arrows.find((arrow) => arrow.from !== arrow.to && (outwards ? arrow.to : arrow.from) === chosen);
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey || (event.target as Element).tagName === "BUTTON") return;
    const far = 60;
    const count = graph.boxes.length;
    const go = (dx: number, dy: number) => setPlaced((before) => moved(before, dx, dy));
    switch (event.key) {
      case "+": case "=": zoom(1.25); break;
      case "-": case "_": zoom(0.8); break;
      case "0": whole(); break;
      case "ArrowLeft": go(far, 0); break;
      case "ArrowRight": go(-far, 0); break;
      case "ArrowUp": go(0, far); break;
      case "ArrowDown": go(0, -far); break;
      case "n": choose((chosen + 1) % count); break;
      case "p": choose((chosen + count - 1) % count); break;
      case "j": { const arrow = heaviest(false); if (arrow) choose(arrow.to); break; }
      case "k": { const arrow = heaviest(true); if (arrow) choose(arrow.from); break; }
      case "Enter": case "m": case "ContextMenu": menuAt(chosen); break;
      default: return;
    }
    event.preventDefault();
  };

  const shown = hovered >= 0 ? hovered : chosen;
  return (
    <>
      <div
        ref={box}
        class={`graph-box${loading ? " loading" : ""}`}
        tabIndex={0}
        role="application"
        aria-roledescription="call graph"
        aria-busy={loading}
        aria-label={`Call graph of ${graph.boxes.length} functions. n and p go from function to function, j and k along the heaviest calls, plus and minus zoom, arrow keys move, 0 shows the whole, Enter opens a menu.`}
        data-testid="graph"
        onKeyDown={onKey}
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onPointerUp={onPointerUp}
        onPointerCancel={onPointerUp}
        onPointerLeave={() => setHovered(-1)}
        onDblClick={whole}
      >
        <svg width={size.width} height={size.height} aria-hidden="true">
          <defs>
            <marker id="graph-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0,0 L8,4 L0,8 z" class="tip" /></marker>
          </defs>
          <g transform={`translate(${placed.x.toFixed(2)} ${placed.y.toFixed(2)}) scale(${placed.scale.toFixed(4)})`} data-testid="graph-placed">
            <Arrows graph={graph} at={shown} />
            {graph.boxes.map((one, i) => (
              <Box
                key={i}
                one={one}
                class={`share-${stepOf(one.share)}${i === chosen ? " chosen" : ""}${found && !found.has(i) ? " dimmed" : ""}`}
                onChoose={() => { if (!dragged.current) setChosen(i); }}
                onHover={() => setHovered(i)}
                onMenu={(event) => {
                  event.preventDefault();
                  setChosen(i);
                  setMenu({ x: event.clientX, y: event.clientY, at: i });
                }}
              />
            ))}
          </g>
        </svg>
        <div class="graph-buttons">
          <button type="button" aria-label="Zoom in" onClick={() => zoom(1.25)}>+</button>
          <button type="button" aria-label="Zoom out" onClick={() => zoom(0.8)}>−</button>
          <button type="button" aria-label="Show the whole" onClick={whole}>⤢</button>
        </div>
      </div>
      <Details graph={graph} at={shown} />
      {menu && <Menu x={menu.x} y={menu.y} items={rowActions(store, graph.boxes[menu.at]!)} onClose={() => setMenu(null)} />}
    </>
  );
}

function Arrows({ graph, at }: { graph: GraphAnswer; at: number }) {
  return (
    <g class="arrows">
      {graph.arrows.map((arrow, i) => (
        <g key={i} class={`arrow share-${stepOf(arrow.share)}${arrow.from === at || arrow.to === at ? " near" : ""}${arrow.residual ? " residual" : ""}`}>
          <path d={arrow.curve} stroke-width={arrow.pen} marker-end="url(#graph-tip)" />
          <text x={arrow.label_x} y={arrow.label_y}>{arrow.text}</text>
        </g>
      ))}
    </g>
  );
}

interface BoxProps {
  one: GraphBox;
  class: string;
  onChoose: () => void;
  onHover: () => void;
  onMenu: (event: MouseEvent) => void;
}

function Box({ one, class: name, onChoose, onHover, onMenu }: BoxProps) {
  const line = one.font * 1.2;
  const top = one.y + 5 - 0.25 * one.font;
  return (
    <g class={`box ${name}`} onClick={onChoose} onPointerEnter={onHover} onContextMenu={onMenu}>
      <rect x={one.x} y={one.y} width={one.width} height={one.height} rx="3" />
      {one.lines.map((text, i) => <text key={i} x={one.x + one.width / 2} y={top + line * (i + 1)} font-size={one.font}>{text}</text>)}
    </g>
  );
}

function Details({ graph, at }: { graph: GraphAnswer; at: number }) {
  const { state, store } = usePage();
  const one = graph.boxes[at];
  if (!one) return null;
  const list = (arrows: { name: string; text: string }[], count: number) => (
    <>{arrows.map((arrow) => `${arrow.name} ${arrow.text}`).join(", ")}{count > arrows.length ? `, and ${count - arrows.length} more` : ""}</>
  );
  const callers = graph.arrows.filter((arrow) => arrow.to === at && arrow.from !== at);
  const callees = graph.arrows.filter((arrow) => arrow.from === at && arrow.to !== at);
  return (
    <footer class="details graph-details" role="status" data-testid="graph-details">
      <span class="graph-name">
        <b class="name">{one.function ?? one.name}</b>
        <span class="actions">{rowActions(store, one).filter((item) => state.view !== item.title).slice(0, 6).map((item) => <button key={item.title} type="button" onClick={item.act}>{item.title}</button>)}</span>
      </span>
      <span class="figure">{one.flat_text} itself, {one.cum_text} with all it calls</span>
      <span class="dim place">
        {callers.length > 0 && <>called by {list(callers.slice(0, 3).map((arrow) => ({ name: graph.boxes[arrow.from]!.name, text: arrow.text })), callers.length)}</>}
        {callers.length > 0 && callees.length > 0 && " · "}
        {callees.length > 0 && <>calls {list(callees.slice(0, 3).map((arrow) => ({ name: graph.boxes[arrow.to]!.name, text: arrow.text })), callees.length)}</>}
      </span>
    </footer>
  );
}
