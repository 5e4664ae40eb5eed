// The lines of a source file: CodeMirror, read only, with what lines hold as columns beside them. In a file of its own
// that is loaded when somebody opens the source view.
//
// As the editor for SQL (query_editor.ts) it lives in a shadow tree: there its styles need no exception from the policy
// of the page. Only what is seen is in the tree of the page, of long lines too, so that any file can be shown.

import { cpp } from "@codemirror/lang-cpp";
import { go } from "@codemirror/lang-go";
import { rust } from "@codemirror/lang-rust";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorSelection, EditorState, RangeSet, StateEffect, StateField, Text } from "@codemirror/state";
import type { Extension } from "@codemirror/state";
import { Decoration, EditorView, gutter, GutterMarker } from "@codemirror/view";
import type { DecorationSet } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { SourceRow } from "../model/source";

export interface Lines {
  // Other figures, or another text.
  set(rows: readonly SourceRow[]): void;
  // Marks a row and brings it into view; -1 none.
  show(row: number, current: boolean): void;
  focus(): void;
  destroy(): void;
}

export interface LinesOptions {
  rows: readonly SourceRow[];
  file: string;
  label: string;
  onChoose: (row: number) => void; // its number was clicked
  onKey: (event: KeyboardEvent) => boolean; // whether it was taken
}

// Colours of the page: its variables are known in the shadow tree as well.
const HEAT = [0, 7, 13, 19, 27];
const look = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--paper)", height: "100%", fontSize: "12.5px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "20px", fontVariantNumeric: "tabular-nums" },
  ".cm-content": { padding: "0", outline: "none" },
  ".cm-line": { padding: "0 10px" },
  ".cm-gutters": { color: "var(--ink)", backgroundColor: "var(--paper)", border: "0", borderRight: "1px solid var(--line)" },
  ".cm-gutterElement": { padding: "0 8px 0 0", textAlign: "right", whiteSpace: "nowrap" },
  ".cost": { width: "82px" },
  ".number": { width: "56px", color: "var(--dim)", cursor: "pointer" },
  ".number .cm-gutterElement:hover": { color: "var(--go)", textDecoration: "underline" },
  ...Object.fromEntries(HEAT.slice(1).map((part, i) => [`.heat-${i + 1}`, { backgroundColor: `color-mix(in srgb, #e8590c ${part}%, transparent)` }])),
  ".cost .heat-3, .cost .heat-4": { fontWeight: "700" },
  ".current": { boxShadow: "inset 0 2px var(--go), inset 0 -2px var(--go)" },
  ".cm-line.begins": { color: "var(--dim)" },
  "@media (max-width: 700px)": {
    ".cost": { width: "62px" },
    ".number": { width: "38px" },
    ".cm-gutterElement": { padding: "0 4px 0 0" },
    ".cm-line": { padding: "0 5px" },
  },
});

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword, tags.self, tags.null, tags.bool], color: "var(--code-keyword)" },
  { tag: [tags.processingInstruction, tags.meta], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.character, tags.special(tags.string), tags.number], color: "var(--code-string)" },
  { tag: [tags.lineComment, tags.blockComment, tags.docComment], color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.typeName, tags.namespace, tags.className], color: "var(--code-type)" },
]);

// Other files are shown as they are.
function languageOf(file: string): Extension {
  const ending = /\.([A-Za-z+]+)$/.exec(file)?.[1]?.toLowerCase() ?? "";
  if (ending === "rs") return rust();
  if (ending === "go") return go();
  return /^(c|cc|cpp|cxx|c\+\+|h|hh|hpp|hxx|h\+\+|inc|inl|ipp|tcc|tpp|ixx|cppm)$/.test(ending) ? cpp() : [];
}

class Cell extends GutterMarker {
  constructor(private readonly text: string, override readonly elementClass: string, private readonly title: string) {
    super();
  }
  override eq(other: Cell): boolean {
    return other.text === this.text && other.elementClass === this.elementClass && other.title === this.title;
  }
  override toDOM(): Node {
    const node = document.createElement("span");
    node.textContent = this.text;
    if (this.title) node.title = this.title;
    return node;
  }
}

const heatOf = (row: SourceRow): string => (row.heat > 0 ? `heat-${Math.max(1, Math.ceil(row.heat * 4))}` : "");
// As `heapgauge list` has it: nothing is a dot.
const textOf = (value: number, told: string): string => (value === 0 ? "." : told);

const setCurrent = StateEffect.define<number>(); // the number of a row, or -1
const current = StateField.define<number>({
  create: () => -1,
  update: (row, transaction) => transaction.effects.reduce((now, effect) => (effect.is(setCurrent) ? effect.value : now), row),
});

const docOf = (rows: readonly SourceRow[]): Text => Text.of(rows.length > 0 ? rows.map((row) => (row.text ?? row.begins ?? "").replace(/[\r\n]/g, " ")) : [""]);

// The columns beside the lines, and how hot these are.
function figuresOf(rows: readonly SourceRow[], doc: Text, onChoose: (row: number) => void): Extension {
  const lineOf = (row: number) => doc.line(row + 1);
  const columnOf = (cells: (row: SourceRow) => Cell | null) =>
    RangeSet.of(rows.flatMap((row, i) => {
      const cell = cells(row);
      return cell ? [cell.range(lineOf(i).from)] : [];
    }));
  const column = (name: string, cells: RangeSet<GutterMarker>, more = {}) => gutter({ class: name, markers: () => cells, ...more });
  const share = (row: SourceRow) => (row.cost ? `${row.cost.share} of all` : "");
  const flat = columnOf((row) => (row.cost ? new Cell(textOf(row.cost.flat, row.cost.flat_text), heatOf(row), share(row)) : null));
  const cum = columnOf((row) => (row.cost ? new Cell(textOf(row.cost.cum, row.cost.cum_text), heatOf(row), share(row)) : null));
  const numbers = columnOf((row) => new Cell(String(row.number), heatOf(row), row.begins ?? ""));
  const heated: DecorationSet = Decoration.set(rows.flatMap((row, i) => {
    const names = [heatOf(row), row.text === null ? "begins" : ""].filter(Boolean).join(" ");
    return names ? [Decoration.line({ class: names, attributes: { title: share(row) } }).range(lineOf(i).from)] : [];
  }));
  return [
    column("cost", flat),
    column("cost", cum),
    column("number", numbers, {
      domEventHandlers: {
        mousedown(editor: EditorView, block: { from: number }) {
          onChoose(editor.state.doc.lineAt(block.from).number - 1);
          return true;
        },
      },
    }),
    EditorView.decorations.of(heated),
  ];
}

export function makeLines(place: HTMLElement, { rows, file, label, onChoose, onKey }: LinesOptions): Lines {
  const root = place.shadowRoot ?? place.attachShadow({ mode: "open" });
  const figures = new Compartment();
  const doc = docOf(rows);
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc,
      extensions: [
        EditorState.readOnly.of(true),
        EditorView.editable.of(false),
        EditorState.tabSize.of(4),
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
        EditorView.domEventHandlers({ keydown: (event) => onKey(event) }),
        figures.of(figuresOf(rows, doc, onChoose)),
        current,
        EditorView.decorations.compute([current], (state) => {
          const row = state.field(current);
          return row < 0 || row >= state.doc.lines ? Decoration.none : Decoration.set([Decoration.line({ class: "current", attributes: { "aria-current": "true" } }).range(state.doc.line(row + 1).from)]);
        }),
        languageOf(file),
        syntaxHighlighting(colours),
        look,
      ],
    }),
  });
  return {
    set(next) {
      const text = docOf(next);
      const same = text.eq(view.state.doc);
      view.dispatch({
        ...(same ? {} : { changes: { from: 0, to: view.state.doc.length, insert: text } }),
        effects: figures.reconfigure(figuresOf(next, text, onChoose)),
      });
    },
    show(row, isCurrent) {
      const effects: StateEffect<unknown>[] = [setCurrent.of(isCurrent ? row : -1)];
      if (row >= 0 && row < view.state.doc.lines) {
        const line = view.state.doc.line(row + 1);
        const box = view.scrollDOM;
        const top = view.lineBlockAt(line.from).top;
        if (top < box.scrollTop || top + 20 > box.scrollTop + box.clientHeight) effects.push(EditorView.scrollIntoView(EditorSelection.cursor(line.from), { y: "start", yMargin: box.clientHeight / 3, x: "start" }));
      }
      view.dispatch({ effects });
    },
    focus: () => view.contentDOM.focus(),
    destroy: () => view.destroy(),
  };
}
