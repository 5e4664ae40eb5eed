// Small things that views share.

import { useEffect, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";
import { usePage } from "./hooks";

export function Problem({ error }: { error: string | null }) {
  return error ? <p class="problem" role="alert">{error}</p> : null;
}

// Two or more choices for a word of the address.
export function Toggle({ word, values, also = {} }: { word: string; values: [string, string, string][]; also?: Record<string, string> }) {
  const { state, store } = usePage();
  const now = state[word] ?? "";
  return (
    <span class="toggle" role="group">
      {values.map(([value, title, hint]) => (
        <button key={value} type="button" title={hint} aria-pressed={now === value} onClick={() => store.change({ ...also, [word]: value })}>
          {title}
        </button>
      ))}
    </span>
  );
}

export interface Size {
  width: number;
  height: number;
}

// The size that an element has got.
export function useSize<E extends HTMLElement>(): [RefObject<E>, Size] {
  const element = useRef<E>(null);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  useEffect(() => {
    const observer = new ResizeObserver((entries) => {
      const box = entries[0]?.contentRect;
      if (box) setSize({ width: Math.floor(box.width), height: Math.floor(box.height) });
    });
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, []);
  return [element, size];
}

export type Theme = "auto" | "light" | "dark";

export function storedTheme(): Theme {
  try {
    const theme = localStorage.getItem("heapgauge-theme");
    return theme === "light" || theme === "dark" ? theme : "auto";
  } catch {
    return "auto"; // storage may be forbidden
  }
}

export function applyTheme(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem("heapgauge-theme", theme);
  } catch {
    // it holds until the page is closed
  }
  window.dispatchEvent(new Event("heapgauge-theme"));
}

function isDark(): boolean {
  const theme = document.documentElement.dataset.theme;
  return theme ? theme === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
}

export function useDark(): boolean {
  const [dark, setDark] = useState(isDark);
  useEffect(() => {
    const look = () => setDark(isDark());
    const media = window.matchMedia("(prefers-color-scheme: dark)");
    media.addEventListener("change", look);
    window.addEventListener("heapgauge-theme", look);
    return () => {
      media.removeEventListener("change", look);
      window.removeEventListener("heapgauge-theme", look);
    };
  }, []);
  return dark;
}
