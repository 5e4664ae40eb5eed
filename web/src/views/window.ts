// Rows of equal height of which only those are made that can be seen.

import { useEffect, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";

export interface RowWindow {
  scroll: RefObject<HTMLDivElement>;
  begin: number;
  end: number;
  onScroll: (event: Event) => void;
  show: (row: number) => void; // scrolls no further than needed
}

const AROUND = 6; // rows made beside those that are seen

export function useRowWindow(count: number, height: number): RowWindow {
  const scroll = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [room, setRoom] = useState(600);
  useEffect(() => {
    const observer = new ResizeObserver((entries) => setRoom(entries[0]!.contentRect.height));
    observer.observe(scroll.current!);
    return () => observer.disconnect();
  }, []);
  return {
    scroll,
    begin: Math.min(count, Math.max(0, Math.floor(top / height) - AROUND)),
    end: Math.min(count, Math.ceil((top + room) / height) + AROUND),
    onScroll: (event) => setTop((event.currentTarget as HTMLElement).scrollTop),
    show: (row) => {
      const box = scroll.current;
      if (!box) return;
      if (row * height < box.scrollTop) box.scrollTop = row * height;
      else if ((row + 1) * height > box.scrollTop + box.clientHeight) box.scrollTop = (row + 1) * height - box.clientHeight;
    },
  };
}
