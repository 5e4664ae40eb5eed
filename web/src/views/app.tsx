// The page: which source, which view, which filter.

import { useEffect, useMemo, useState } from "preact/hooks";
import { answerer, ask } from "../api/client";
import type { SourceFacts } from "../api/types";
import { filterOf, stateText, withSource, withWords } from "../model/state";
import type { State, Store } from "../model/state";
import { ExportMenu } from "./export_menu";
import { Exports } from "./exports";
import { Page, useAsk, usePage } from "./hooks";
import type { PageContext } from "./hooks";
import { applyTheme, Problem, storedTheme } from "./parts";
import type { Theme } from "./parts";
import { VIEWS } from "./views";
import "./app.css";

const AGAIN_MS = 2000; // how often a process that runs is looked at

export function App({ store }: { store: Store }) {
  const [state, setState] = useState<State>(store.state);
  useEffect(() => store.listen(() => setState(store.state)), [store]);
  const [sources, setSources] = useState<SourceFacts[] | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    ask("sources", {}).then(
      (answer) => {
        setSources(answer.sources);
        setChosen(answer.chosen);
        setError(null);
      },
      (problem: unknown) => setError(problem instanceof Error ? problem.message : String(problem)),
    );
  }, [state.source]);
  const id = state.source ?? chosen;
  const source = useMemo(() => sources?.find((one) => one.id === id) ?? null, [sources, id]);

  const [paused, setPaused] = useState(false);
  const [hold, setHold] = useState(() => Date.now().toString(36));
  useEffect(() => {
    if (!source?.live || paused) return;
    const timer = setInterval(() => {
      if (!document.hidden) setHold(Date.now().toString(36));
    }, AGAIN_MS);
    return () => clearInterval(timer);
  }, [source?.live, paused]);

  const [exports] = useState(() => new Exports());
  const page: PageContext = useMemo(() => ({ store, state, source, hold, exports }), [store, state, source, hold, exports]);
  const view = VIEWS.find((one) => one.word === (state.view ?? "overview")) ?? VIEWS[0]!;
  const View = view.component;
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
            {(sources ?? []).map((one) => <option key={one.id} value={one.id}>{one.title}{one.live ? " (live)" : ""}</option>)}
            {sources && !source && <option value={id ?? ""}>{id ?? "nothing to show"}</option>}
          </select>
        </label>
        <nav aria-label="Views">
          {VIEWS.map((one) => (
            <a key={one.word} href={`#${stateText(withWords(state, { view: one.word }))}`} aria-current={one === view ? "page" : undefined}>{one.title}</a>
          ))}
        </nav>
        <span class="grow" />
        {!answerer.served && <ReportNotes />}
        {source?.live && <button type="button" aria-pressed={paused} onClick={() => setPaused(!paused)}>{paused ? "▶ go on" : "⏸ pause"}</button>}
        <ExportMenu view={view.word} filtered={view.filtered} />
        <ThemeButton />
      </header>
      {source && view.filtered && <FilterBar key={source.id} />}
      <main>
        <Problem error={error} />
        {sources && !source && state.source && !error && <Problem error={`there is no source '${state.source}' here`} />}
        {sources && sources.length === 0 && <p class="empty">There is nothing to show. Start a program with: heapgauge run -- ./program</p>}
        {view.served && !answerer.served && <p class="empty">A saved report has no answers for this view. The server has: heapgauge ui SOURCE</p>}
        {(source || !view.filtered) && (answerer.served || !view.served) && <View key={source?.id} />}
      </main>
    </Page.Provider>
  );
}

// Which figure, and what the filter leaves: each word can be changed or taken away.
function FilterBar() {
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
  const chosen = choices.findIndex((choice) => ["value", "blocks", "sort", "type"].every((word) => (choice.parameters[word] ?? "") === (state[word] ?? "")));
  const words = Object.entries(filterOf(state)).filter(([word]) => !["source", "value", "blocks", "sort", "type", "granularity", "names"].includes(word));
  const [draft, setDraft] = useState("");
  return (
    <div class="filters" role="search">
      {choices.length > 1 && (
        <label>
          <span class="dim">figure </span>
          <select
            value={String(Math.max(0, chosen))}
            onChange={(event) => {
              const choice = choices[Number(event.currentTarget.value)];
              store.change({ value: "", blocks: "", sort: "", type: "", ...choice?.parameters });
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
  const titles: Record<Theme, string> = { auto: "◐ auto", light: "☀ light", dark: "☾ dark" };
  return (
    <button
      type="button"
      title="Light or dark"
      onClick={() => {
        setTheme(next[theme]);
        applyTheme(next[theme]);
      }}
    >
      {titles[theme]}
    </button>
  );
}
