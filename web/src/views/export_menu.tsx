// The current view as a file: pictures, tables and answers are made here, profiles for other tools by the server.

import { useMemo, useRef, useState } from "preact/hooks";
import { addressOf, answerer } from "../api/client";
import { canvasesOf, csvOf, download, fileName, hasSvg, jsonOf, pngOf, svgOf } from "./exports";
import type { Subject } from "./exports";
import { useFilter, usePage } from "./hooks";
import { Menu } from "./menu";
import type { MenuItem } from "./menu";
import { useDark } from "./parts";

const FORMATS: [string, string][] = [
  ["pprof", "Profile: pprof (.pb.gz)"],
  ["speedscope", "Profile: speedscope"],
  ["collapsed", "Profile: collapsed stacks"],
  ["callgrind", "Profile: callgrind"],
  ["gperftools", "Profile: gperftools"],
  ["json", "Profile: all of it (JSON)"],
  ["flame", "Profile: flame graph that zooms"],
];

export function ExportMenu({ view, filtered }: { view: string; filtered: boolean }) {
  const { exports, state, source } = usePage();
  const filter = useFilter();
  const dark = useDark();
  const button = useRef<HTMLButtonElement>(null);
  const [place, setPlace] = useState<{ x: number; y: number } | null>(null);
  const [problem, setProblem] = useState("");
  const title = source?.title ?? "heapgauge";
  const subject: Subject = useMemo(() => ({ exports, view, state, title, dark }), [exports, view, state, title, dark]);

  const save = (ending: string, type: string, make: () => Promise<string | Blob | null>) => () => {
    setProblem("");
    make().then(
      (content) => {
        if (content === null) setProblem("there is nothing of that kind in this view");
        else download(fileName(title, view, ending), content instanceof Blob ? content : new Blob([content], { type }));
      },
      (error: unknown) => setProblem(error instanceof Error ? error.message : String(error)),
    );
  };
  const items = (): MenuItem[] => {
    const list: MenuItem[] = [];
    const drawn = hasSvg(subject);
    if (drawn) list.push({ title: "Picture (SVG)", act: save("svg", "image/svg+xml", () => svgOf(subject)) });
    if (drawn || canvasesOf(subject).length > 0) list.push({ title: "Picture (PNG)", act: save("png", "image/png", () => pngOf(subject)) });
    if (exports.answers(view).length > 0 || exports.offer?.table) {
      list.push({ title: "Table (CSV)", act: save("csv", "text/csv;charset=utf-8", () => csvOf(subject)) });
      list.push({ title: "Figures (JSON)", act: save("json", "application/json", () => jsonOf(subject)) });
    }
    if (filtered && source && answerer.served) {
      for (const [format, text] of FORMATS) list.push({ title: text, act: () => follow(addressOf("export", { ...filter, format })) });
    }
    return list;
  };
  const close = () => {
    setPlace(null);
    button.current?.focus();
  };
  return (
    <>
      <button
        type="button"
        ref={button}
        aria-haspopup="menu"
        aria-expanded={place !== null}
        title="Save this view, or the profile behind it"
        onClick={() => {
          const box = button.current!.getBoundingClientRect();
          setPlace({ x: box.left, y: box.bottom + 4 });
        }}
      >
        ⤓ export
      </button>
      {problem && <span class="problem export-problem" role="alert">{problem}</span>}
      {place && <Menu x={place.x} y={place.y} items={items()} onClose={close} />}
    </>
  );
}

// The server names the file.
function follow(address: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = "";
  link.click();
}
