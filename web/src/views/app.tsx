// The page: which source, which view, which filter.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { answerer } from "../api/client";
import { connection } from "../api/connection";
import { filterOf, stateText, withSource, withWords } from "../model/state";
import type { Store } from "../model/state";
import { ConnectionBanner } from "./connection";
import { ExportMenu } from "./export_menu";
import { Exports } from "./exports";
import { Page, useAsk, useListened, usePage } from "./hooks";
import type { PageContext } from "./hooks";
import { applyTheme, Problem, storedTheme } from "./parts";
import type { Theme } from "./parts";
import { ShareButton } from "./share";
import { SourceOptions } from "./sources";
import { isSnapshot, useSource, useSources } from "./use_sources";
import { VIEWS } from "./views";
import "./app.css";

const AGAIN_MS = 2000; // how often a process that runs is looked at

export function App({ store }: { store: Store }) {
  const state = useListened(store, () => store.state);
  const { sources, chosen, error, lookAgain } = useSources(state.source);
  const id = state.source ?? chosen;
  const { source, gone } = useSource(sources, id);

  const [paused, setPaused] = useState(false);
  const [hold, setHold] = useState(() => Date.now().toString(36));
  useEffect(() => {
    if (!source?.live || paused) return;
    const timer = setInterval(() => {
      // What was asked for is shown before the next is asked for, however long it takes.
      if (!document.hidden && connection.pending === 0) setHold(Date.now().toString(36));
    }, AGAIN_MS);
    return () => clearInterval(timer);
  }, [source?.live, paused]);

  const [exports] = useState(() => new Exports());
  const page: PageContext = useMemo(
    () => ({ store, state, source, sources: sources ?? [], hold, lookAgain, exports }),
    [store, state, source, sources, hold, lookAgain, exports],
  );
  const view = VIEWS.find((one) => one.word === (state.view ?? "overview")) ?? VIEWS[0]!;
  const View = view.component;
  // Whoever is sent the address later may find other sources before this one.
  useEffect(() => {
    if (!state.source && chosen && view.filtered) store.change({ source: chosen }, true);
  }, [state.source, chosen, view.filtered, store]);
  useEffect(() => {
    document.title = `${source ? `${source.title} · ` : ""}${view.title} · heapgauge`;
  }, [source, view]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "/" || /^(INPUT|SELECT|TEXTAREA)$/.test((event.target as Element).tagName)) return;
      const input = document.querySelector<HTMLInputElement>("input[type=search]");
      if (!input) return;
      input.focus();
      event.preventDefault();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);

  return (
    <Page.Provider value={page}>
      <header class="top">
        <span class="brand">heapgauge</span>
        <label class="source">
          <span class="hidden">Source</span>
          <select value={id ?? ""} onChange={(event) => store.set(withSource(state, event.currentTarget.value))}>
            <SourceOptions sources={sources ?? []} />
            {sources && !sources.some((one) => one.id === id) && <option value={id ?? ""}>{source?.title ?? (isSnapshot(id) ? "a snapshot that is gone" : id) ?? "nothing to show"}</option>}
          </select>
        </label>
        <Tabs view={view} />
        <span class="tools">
          {!answerer.served && <ReportNotes />}
          {source?.live && <button type="button" aria-pressed={paused} onClick={() => setPaused(!paused)}>{paused ? "Go on" : "Pause"}</button>}
          {answerer.served && <ShareButton />}
          <ExportMenu view={view.word} filtered={view.filtered} />
          <ThemeButton />
        </span>
      </header>
      <ConnectionBanner />
      {gone && <p class="banner" role="status" data-testid="gone"><b>{source?.title} is gone</b> and left no file on the server. These are its last figures.</p>}
      {source && view.filtered && <FilterBar key={source.id} figureless={view.figureless === true} />}
      <main>
        <Problem error={error} />
        {sources && !source && state.source && !error && <Missing id={state.source} />}
        {sources && sources.length === 0 && <p class="empty">There is nothing to show. Start a program with: heapgauge run -- ./program</p>}
        {view.served && !answerer.served && <p class="empty">A saved report has no answers for this view. The server has: heapgauge ui SOURCE</p>}
        {(source || !view.filtered) && (answerer.served || !view.served) && <View key={source?.id} />}
      </main>
    </Page.Provider>
  );
}

// A source that the address names and the server does not have.
function Missing({ id }: { id: string }) {
  const { state, sources } = usePage();
  const text = isSnapshot(id)
    ? "This snapshot is not kept any more: the server keeps the last 32 of each process, as long as it runs."
    : `There is no source '${id}' here.`;
  return (
    <div class="problem" role="alert" data-testid="missing">
      {text}
      {sources.length > 0 && <> There is: {sources.slice(0, 8).map((one, i) => <span key={one.id}>{i > 0 && ", "}<a href={`#${stateText(withSource(state, one.id))}`}>{one.title}</a></span>)}</>}
    </div>
  );
}

// Tabs in a few groups: when, who, what, and the rest. They keep to one line, which scrolls where it is too narrow.
const GROUPS_BEGIN = ["flame", "leaks", "compare"];

function Tabs({ view }: { view: (typeof VIEWS)[number] }) {
  const { state } = usePage();
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    nav.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [view]);
  return (
    <nav aria-label="Views" ref={nav}>
      {VIEWS.map((one) => (
        <a
          key={one.word}
          class={GROUPS_BEGIN.includes(one.word) ? "group" : undefined}
          href={`#${stateText(withWords(state, { view: one.word }))}`}
          aria-current={one === view ? "page" : undefined}
        >
          {one.title}
        </a>
      ))}
    </nav>
  );
}

// Which figure, and what the filter leaves: each word can be changed or taken away.
function FilterBar({ figureless }: { figureless: boolean }) {
  const { state, store, source, hold } = usePage();
  // A look at memory adds figures.
  const [checks, setChecks] = useState(0);
  useEffect(() => {
    const checked = () => setChecks((before) => before + 1);
    window.addEventListener("heapgauge-check", checked);
    return () => window.removeEventListener("heapgauge-check", checked);
  }, []);
  const parameters = useMemo(() => (source ? { source: source.id, brief: "1", ...(source.live ? { hold: `choices${checks}` } : {}) } : null), [source, hold, checks]);
  const { data: summary } = useAsk("summary", parameters);
  const choices = summary?.choices ?? [];
  const chosen = choices.findIndex((choice) => ["value", "blocks", "sort", "type", "peak"].every((word) => (choice.parameters[word] ?? "") === (state[word] ?? "")));
  const words = Object.entries(filterOf(state)).filter(([word]) => !["source", "value", "blocks", "sort", "type", "granularity", "names"].includes(word));
  const [draft, setDraft] = useState("");
  return (
    <div class="filters" role="search">
      {choices.length > 1 && !figureless && (
        <label>
          <span class="dim">figure </span>
          <select
            value={String(Math.max(0, chosen))}
            onChange={(event) => {
              const choice = choices[Number(event.currentTarget.value)];
              store.change({ value: "", blocks: "", sort: "", type: "", peak: "", ...choice?.parameters });
            }}
          >
            {choices.map((choice, i) => <option key={choice.title} value={String(i)}>{choice.title}</option>)}
          </select>
        </label>
      )}
      {words.map(([word, value]) => (
        <span key={word} class="chip">
          <span class="dim">{word}</span> {value}
          <button type="button" aria-label={`Remove ${word}`} onClick={() => store.change({ [word]: "", ...(word === "from" || word === "to" ? { from: "", to: "", ...(state.value === "left" ? { value: "" } : {}) } : {}) })}>×</button>
        </span>
      ))}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (draft) store.change({ focus: draft, root: "" });
          setDraft("");
        }}
      >
        <input class="focus" aria-label="Only stacks with a function that matches" placeholder="only stacks through… (RE2)" value={draft} onInput={(event) => setDraft(event.currentTarget.value)} />
      </form>
      {words.length > 0 && <button type="button" onClick={() => store.set(withSource(state, state.source ?? ""))}>Clear all</button>}
    </div>
  );
}

// Of a saved report: what is not in it.
function ReportNotes() {
  return (
    <details class="report-notes">
      <summary>saved report</summary>
      <ul>{answerer.notes.map((note) => <li key={note}>{note}</li>)}</ul>
    </details>
  );
}

function ThemeButton() {
  const [theme, setTheme] = useState<Theme>(storedTheme);
  const next: Record<Theme, Theme> = { auto: "light", light: "dark", dark: "auto" };
  const titles: Record<Theme, string> = { auto: "◐", light: "☀", dark: "☾" };
  return (
    <button
      type="button"
      title={`Light or dark: ${theme}`}
      aria-label={`Light or dark: ${theme}`}
      onClick={() => {
        setTheme(next[theme]);
        applyTheme(next[theme]);
      }}
    >
      {titles[theme]}
    </button>
  );
}
