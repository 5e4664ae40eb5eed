// What the page shows, as words in its address (behind the '#'): the view, the source, the filter in the words
// of the command line, and what a view needs beside. Whoever opens the same address sees the same.

export type State = Readonly<Record<string, string>>;

// The words of the filter that every resource of the API takes.
export const FILTER_WORDS = [
  "source", "at", "from", "to", "value", "blocks", "peak", "type", "focus", "ignore", "sort", "granularity", "names",
  "min-size", "max-size", "min-lifetime", "max-lifetime", "temporary", "thread", "freed", "not-freed", "realloc",
  "mmap-blocks", "live-at", "stack", "not-stack", "function", "not-function", "module", "not-module", "source-file",
  "not-source-file",
] as const;

// What stays when another source is chosen.
const KEPT_WITH_SOURCE = ["view", "callers", "upwards", "granularity", "names", "cumulative", "sql", "saved"];

export function parseState(hash: string): State {
  const state: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(hash.replace(/^#/, ""))) state[name] = value;
  return state;
}

export function stateText(state: State): string {
  const words = new URLSearchParams();
  for (const name of Object.keys(state).sort()) {
    const value = state[name];
    if (value) words.set(name, value);
  }
  return words.toString();
}

// Words that are "" go.
export function withWords(state: State, words: Record<string, string | undefined>): State {
  const next: Record<string, string> = { ...state };
  for (const [name, value] of Object.entries(words)) {
    if (value) next[name] = value;
    else delete next[name];
  }
  return next;
}

export function withSource(state: State, source: string): State {
  const next: Record<string, string> = { source };
  for (const name of KEPT_WITH_SOURCE) {
    const value = state[name];
    if (value) next[name] = value;
  }
  return next;
}

export function filterOf(state: State): Record<string, string> {
  const filter: Record<string, string> = {};
  for (const name of FILTER_WORDS) {
    const value = state[name];
    if (value) filter[name] = value;
  }
  return filter;
}

// Of these the words that are not about blocks: where, when, and which figure.
const NOT_OF_BLOCKS = new Set(["source", "at", "from", "to", "live-at", "value", "blocks", "peak", "type", "sort", "granularity", "names"]);

// What chooses blocks and stacks at any time: the filter of the timeline, on which the times themselves are chosen.
export function blocksOf(state: State): Record<string, string> {
  return Object.fromEntries(Object.entries(filterOf(state)).filter(([word]) => !NOT_OF_BLOCKS.has(word)));
}

type Listener = () => void;

// The state of this page and its address, kept equal.
export class Store {
  private listeners = new Set<Listener>();
  state: State;

  constructor(private readonly window: Window) {
    this.state = parseState(window.location.hash);
    window.addEventListener("hashchange", () => {
      this.state = parseState(window.location.hash);
      this.tell();
    });
  }

  // A step that the back button takes back, unless `quietly`.
  set(state: State, quietly = false): void {
    const text = `#${stateText(state)}`;
    if (text === this.window.location.hash) return;
    this.state = state;
    if (quietly) this.window.history.replaceState(null, "", text);
    else this.window.history.pushState(null, "", text);
    this.tell();
  }

  // Of what the address says now: the word that it has changed may still be on its way.
  change(words: Record<string, string | undefined>, quietly = false): void {
    this.set(withWords(parseState(this.window.location.hash), words), quietly);
  }

  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}
