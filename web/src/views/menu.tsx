// A menu where the pointer is. Once it is there, the focus is its user's: pages are drawn again while it is open.

import { useEffect, useRef } from "preact/hooks";

export interface MenuItem {
  title: string;
  act: () => void;
}

export function Menu({ x, y, items, onClose }: { x: number; y: number; items: MenuItem[]; onClose: () => void }) {
  const list = useRef<HTMLDivElement>(null);
  const close = useRef(onClose);
  close.current = onClose;
  useEffect(() => {
    const box = list.current!;
    box.style.left = `${Math.min(x, window.innerWidth - box.offsetWidth - 8)}px`;
    box.style.top = `${Math.min(y, window.innerHeight - box.offsetHeight - 8)}px`;
    box.querySelector("button")?.focus();
    const outside = (event: MouseEvent) => {
      if (!box.contains(event.target as Node)) close.current();
    };
    window.addEventListener("mousedown", outside);
    return () => window.removeEventListener("mousedown", outside);
  }, [x, y]);
  const onKey = (event: KeyboardEvent) => {
    const buttons = [...list.current!.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    if (event.key === "Escape") onClose();
    else if (event.key === "ArrowDown") buttons[(at + 1) % buttons.length]?.focus();
    else if (event.key === "ArrowUp") buttons[(at + buttons.length - 1) % buttons.length]?.focus();
    else return;
    event.preventDefault();
  };
  return (
    <div class="menu" role="menu" ref={list} onKeyDown={onKey}>
      {items.map((item) => (
        <button key={item.title} type="button" role="menuitem" onClick={() => { onClose(); item.act(); }}>
          {item.title}
        </button>
      ))}
    </div>
  );
}
