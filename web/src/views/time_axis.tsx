// The time axis over all lanes of the timeline: one pointer, one pair of ranges, one zoom, by mouse, touch and keys.
// Lanes only draw; what is done anywhere on the axis is done here, and shows on all of them.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { exactTime } from "../model/format";
import { moved, zoomed } from "../model/time";
import type { Pointed, Span, TimePointer } from "../model/time";
import { LEFT, RIGHT } from "./chart";

export interface TimeAxisProps {
  seen: Span;
  whole: Span;
  pointer: TimePointer;
  a: Span | null;
  b: Span | null;
  at: number | null; // the moment that is looked at
  second: boolean; // what is drawn without shift is range B
  onRange?: ((span: Span, second: boolean) => void) | undefined;
  onMoment?: ((seconds: number, second: boolean) => void) | undefined;
  onZoom: (span: Span | null, turning?: boolean) => void; // turning: more is likely to come
  onEscape: () => void;
  onSecond?: (() => void) | undefined;
  describe: (seconds: number) => string; // what is there, for those who do not see it
  children: ComponentChildren;
}

const LEAST_DRAG = 4; // pixels; less is a click
const WHEEL = 0.0022;
const KEY_PART = 0.01; // of what is seen, by an arrow key

// Lanes mark what is on the time axis: legends and names are not.
const isOnAxis = (target: EventTarget | null): Element | null => (target as Element | null)?.closest?.(".u-over, [data-lane-plot]") ?? null;

export function TimeAxis(props: TimeAxisProps) {
  const { seen, pointer, a, b, at } = props;
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const begun = useRef<{ x: number; seconds: number; second: boolean } | null>(null);
  const anchor = useRef<{ seconds: number; second: boolean } | null>(null);

  // Where on the axis a pixel is.
  const secondsAt = (clientX: number): number => {
    const box = place.current!.getBoundingClientRect();
    const { seen: span } = latest.current;
    const part = (clientX - box.left - LEFT) / Math.max(1, box.width - LEFT - RIGHT);
    return span.from + Math.min(1, Math.max(0, part)) * (span.to - span.from);
  };
  const laneOf = (target: Element): number => Number(target.getAttribute("data-lane-plot") ?? -1);

  const onMove = (event: PointerEvent) => {
    if (begun.current) {
      const { x, seconds, second } = begun.current;
      const now = secondsAt(event.clientX);
      const draft = latest.current.onRange && Math.abs(event.clientX - x) >= LEAST_DRAG ? { from: Math.min(seconds, now), to: Math.max(seconds, now), second } : null;
      pointer.set({ seconds: now, draft });
      return;
    }
    const target = isOnAxis(event.target);
    pointer.set(target ? { seconds: secondsAt(event.clientX), lane: laneOf(target) } : { seconds: null, lane: -1 });
  };
  const onDown = (event: PointerEvent) => {
    if (event.button !== 0 || !isOnAxis(event.target)) return;
    begun.current = { x: event.clientX, seconds: secondsAt(event.clientX), second: event.shiftKey !== latest.current.second };
    place.current!.setPointerCapture(event.pointerId);
  };
  const onUp = (event: PointerEvent) => {
    const start = begun.current;
    begun.current = null;
    const { draft } = pointer.now;
    pointer.set({ draft: null });
    if (!start) return;
    if (draft) latest.current.onRange?.({ from: draft.from, to: draft.to }, start.second);
    else if (Math.abs(event.clientX - start.x) < LEAST_DRAG) latest.current.onMoment?.(start.seconds, start.second);
  };
  const onCancel = () => {
    begun.current = null;
    pointer.set({ draft: null, seconds: null, lane: -1 });
  };

  // Not passive, because the page must not scroll as well.
  useEffect(() => {
    const element = place.current!;
    const onWheel = (event: WheelEvent) => {
      const target = isOnAxis(event.target);
      const meant = event.ctrlKey || event.metaKey || event.altKey;
      const { seen: span, whole, onZoom } = latest.current;
      if (!target || (laneOf(target) >= 0 && !meant)) return;
      const across = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
      if (across && !meant) {
        const delta = (event.deltaX || event.deltaY) / Math.max(1, element.clientWidth - LEFT - RIGHT);
        if (span.to - span.from < whole.to - whole.from) onZoom(moved(span, whole, delta * (span.to - span.from)), true);
      } else {
        // Out of all of it there is nothing to zoom to: the page scrolls.
        if (event.deltaY > 0 && !meant && span.to - span.from >= (whole.to - whole.from) * 0.999) return;
        const lines = event.deltaMode === 1 ? 16 : 1;
        onZoom(zoomed(span, whole, secondsAt(event.clientX), Math.exp(event.deltaY * lines * WHEEL)), true);
      }
      event.preventDefault();
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, []);

  const onKey = (event: KeyboardEvent) => {
    if (event.target !== place.current || event.ctrlKey || event.metaKey || event.altKey) return;
    const { seen: span, whole, onZoom, onRange, onMoment, onEscape, onSecond, second } = latest.current;
    const length = span.to - span.from;
    const now = Math.min(span.to, Math.max(span.from, pointer.now.seconds ?? (span.from + span.to) / 2));
    const steps: Record<string, number> = { ArrowLeft: -KEY_PART, ArrowRight: KEY_PART, PageUp: -0.1, PageDown: 0.1, Home: -1, End: 1 };
    const step = steps[event.key];
    if (step !== undefined) {
      const next = Math.min(span.to, Math.max(span.from, now + step * length));
      if (event.shiftKey && onRange) {
        anchor.current ??= { seconds: now, second };
        const from = anchor.current.seconds;
        pointer.set({ seconds: next, lane: -1, draft: { from: Math.min(from, next), to: Math.max(from, next), second: anchor.current.second } });
      } else {
        pointer.set({ seconds: next, lane: -1 });
      }
    } else if (event.key === "Enter") {
      onMoment?.(now, second);
    } else if (event.key === "+" || event.key === "=") {
      onZoom(zoomed(span, whole, now, 0.5));
    } else if (event.key === "-") {
      onZoom(zoomed(span, whole, now, 2));
    } else if (event.key === "0") {
      onZoom(null);
    } else if (event.key === "b" && onSecond) {
      onSecond();
    } else if (event.key === "Escape") {
      anchor.current = null;
      if (pointer.now.draft) pointer.set({ draft: null });
      else onEscape();
    } else {
      return;
    }
    event.preventDefault();
  };
  // A range is drawn as long as shift is held.
  const onKeyUp = (event: KeyboardEvent) => {
    const { draft } = pointer.now;
    if (event.key !== "Shift" || !anchor.current) return;
    anchor.current = null;
    pointer.set({ draft: null });
    if (draft && draft.to > draft.from) latest.current.onRange?.({ from: draft.from, to: draft.to }, draft.second);
  };

  return (
    <div
      ref={place} class="time-axis" data-testid="time-axis" tabIndex={0} role="slider" aria-orientation="horizontal"
      aria-label="Time. Arrow keys move, with shift they choose a range, Enter looks at the moment, b is for the second range, plus and minus zoom, 0 shows all, Escape goes back."
      aria-valuemin={seen.from} aria-valuemax={seen.to} aria-valuenow={pointer.now.seconds ?? at ?? seen.to}
      onPointerMove={onMove} onPointerDown={onDown} onPointerUp={onUp} onPointerCancel={onCancel}
      onPointerLeave={() => begun.current || pointer.set({ seconds: null, lane: -1 })}
      onKeyDown={onKey} onKeyUp={onKeyUp}
    >
      {props.children}
      <div class="time-over">
        <Shade kind="a" span={a} seen={seen} />
        <Shade kind="b" span={b} seen={seen} />
        {at !== null && <Line kind="at" seconds={at} seen={seen} />}
        <PointerLines pointer={pointer} seen={seen} axis={place} describe={props.describe} />
      </div>
    </div>
  );
}

const percent = (seconds: number, seen: Span): number => (100 * (seconds - seen.from)) / Math.max(seen.to - seen.from, 1e-9);

function Shade({ kind, span, seen }: { kind: string; span: Span | null; seen: Span }) {
  if (!span) return null;
  const left = Math.max(0, percent(span.from, seen));
  const right = Math.min(100, percent(span.to, seen));
  if (right < 0 || left > 100) return null;
  return (
    <div class={`shade shade-${kind}`} data-testid={`shade-${kind}`} style={{ left: `${left}%`, width: `${Math.max(0, right - left)}%` }}>
      {kind.length === 1 && <span>{kind.toUpperCase()}</span>}
    </div>
  );
}

function Line({ kind, seconds, seen }: { kind: string; seconds: number; seen: Span }) {
  const left = percent(seconds, seen);
  return left < 0 || left > 100 ? null : <div class={`time-line time-line-${kind}`} style={{ left: `${left}%` }} />;
}

// Follows the pointer without drawing anything else again.
function PointerLines({ pointer, seen, axis, describe }: { pointer: TimePointer; seen: Span; axis: { current: HTMLDivElement | null }; describe: (seconds: number) => string }) {
  const [now, setNow] = useState<Pointed>(pointer.now);
  useEffect(() => pointer.listen(setNow), [pointer]);
  useEffect(() => {
    const element = axis.current;
    if (!element || now.seconds === null) return;
    element.setAttribute("aria-valuenow", String(now.seconds));
    element.setAttribute("aria-valuetext", describe(now.seconds));
  }, [now.seconds, describe]);
  return (
    <>
      {now.draft && <Shade kind={now.draft.second ? "b" : "a"} span={now.draft} seen={seen} />}
      {now.seconds !== null && <Line kind="pointer" seconds={now.seconds} seen={seen} />}
      {now.seconds !== null && now.draft && (
        <div class="draft-text" style={{ left: `${Math.min(88, Math.max(0, percent(now.draft.from, seen)))}%` }}>
          {exactTime(now.draft.from)} – {exactTime(now.draft.to)}
        </div>
      )}
    </>
  );
}
