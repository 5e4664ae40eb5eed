// The editor for SQL: CodeMirror, in a file of its own that is loaded when somebody opens the query view.
//
// It lives in a shadow tree, because there CodeMirror's styles are sheets that are constructed by the script. In the
// page itself they would be style elements, which its policy forbids.

import { autocompletion, completionKeymap } from "@codemirror/autocomplete";
import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { SQLite, sql } from "@codemirror/lang-sql";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorState, Prec, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, keymap, placeholder } from "@codemirror/view";
import type { DecorationSet } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { QueryAnswer } from "../api/query";

export interface Editor {
  text(): string;
  setText(text: string): void;
  setSchema(schema: Pick<QueryAnswer, "tables" | "functions">): void;
  mark(place: { line: number; column: number } | null): void;
  destroy(): void;
}

export interface EditorOptions {
  text: string;
  label: string;
  hint: string;
  onChange: (text: string) => void;
  onRun: () => void;
}

// Colours of the page: its variables are known in the shadow tree as well.
const look = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--paper)", border: "1px solid var(--line)", borderRadius: "5px", fontSize: "13px" },
  "&.cm-focused": { outline: "2px solid var(--go)", outlineOffset: "1px" },
  ".cm-content": { fontFamily: "var(--mono)", caretColor: "var(--ink)", padding: "6px 0", minHeight: "84px" },
  ".cm-line": { padding: "0 8px" },
  ".cm-scroller": { maxHeight: "40vh", lineHeight: "1.5" },
  ".cm-placeholder": { color: "var(--dim)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--go-back)" },
  ".cm-tooltip": { color: "var(--ink)", backgroundColor: "var(--paper)", border: "1px solid var(--line)", borderRadius: "6px", boxShadow: "0 4px 18px #0004" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", fontSize: "12px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { color: "var(--go)", backgroundColor: "var(--go-back)" },
  ".cm-completionDetail": { color: "var(--dim)", fontStyle: "normal" },
  ".cm-tooltip.cm-completionInfo": { padding: "6px 10px", maxWidth: "340px" },
  ".cm-wrong": { textDecoration: "underline wavy var(--warn)", backgroundColor: "var(--warn-back)" },
});

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--go)", fontWeight: "600" },
  { tag: [tags.string, tags.number, tags.bool, tags.null], color: "var(--warn)" },
  { tag: [tags.lineComment, tags.blockComment], color: "var(--dim)", fontStyle: "italic" },
]);

const setWrong = StateEffect.define<{ from: number; to: number } | null>();
const wrong = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    let next = transaction.docChanged ? Decoration.none : marks;
    for (const effect of transaction.effects) {
      if (effect.is(setWrong)) next = effect.value ? Decoration.set([Decoration.mark({ class: "cm-wrong" }).range(effect.value.from, effect.value.to)]) : Decoration.none;
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

// What is typed over marked text is put in by the editor itself. Browsers would keep the look of what was there as
// an inline style, and the policy of the page complains.
const INPUTS: Record<string, string> = {
  insertText: "input.type", insertReplacementText: "input.type", deleteContentBackward: "delete.backward", deleteContentForward: "delete.forward",
  deleteByCut: "delete.cut",
};

// What is marked now, which the editor may not have been told yet. Some browsers know it only of the shadow tree.
function marked(view: EditorView): { from: number; to: number } {
  const root = view.root as { getSelection?: () => Selection | null };
  const selection = root.getSelection?.() ?? document.getSelection();
  if (!selection?.anchorNode || !selection.focusNode || !view.contentDOM.contains(selection.anchorNode)) return view.state.selection.main;
  const ends = [view.posAtDOM(selection.anchorNode, selection.anchorOffset), view.posAtDOM(selection.focusNode, selection.focusOffset)];
  return { from: Math.min(...ends), to: Math.max(...ends) };
}

const typedOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const userEvent = INPUTS[event.inputType];
    if (userEvent === undefined || !event.cancelable || view.composing) return false;
    const { from, to } = marked(view);
    if (from === to) return false;
    const insert = userEvent === "input.type" ? (event.data ?? event.dataTransfer?.getData("text/plain") ?? "") : "";
    view.dispatch({ changes: { from, to, insert }, selection: { anchor: from + insert.length }, userEvent, scrollIntoView: true });
    event.preventDefault();
    return true;
  },
});

function language(schema: Pick<QueryAnswer, "tables" | "functions">) {
  const tables: Record<string, { self: Completion; children: Completion[] }> = {};
  for (const table of schema.tables) {
    tables[table.name] = {
      self: { label: table.name, type: "type", detail: "table", info: table.meaning },
      children: table.columns.map((column): Completion => ({ label: column.name, type: "property", detail: column.type, info: column.meaning })),
    };
  }
  // Columns without a table in front, and functions; those of SQL itself are the dialect's.
  const columns = new Map<string, Completion>();
  for (const table of schema.tables) {
    for (const column of table.columns) {
      if (!columns.has(column.name)) columns.set(column.name, { label: column.name, type: "property", detail: `${table.name}, ${column.type}`, info: column.meaning, boost: -1 });
    }
  }
  const functions = schema.functions.map((one): Completion => {
    const name = one.call.replace(/\(.*$/, "");
    return { label: name, type: "function", detail: one.call.slice(name.length), info: one.meaning, apply: one.call.includes("(") ? `${name}(` : name };
  });
  const options = [...columns.values(), ...functions];
  const complete = (context: CompletionContext): CompletionResult | null => {
    const word = context.matchBefore(/[\w$]+/);
    if (!word && !context.explicit) return null;
    const from = word?.from ?? context.pos;
    if (context.state.sliceDoc(from - 1, from) === ".") return null; // of the table that is named
    return { from, options, validFor: /^[\w$]*$/ };
  };
  return [sql({ dialect: SQLite, schema: tables, upperCaseKeywords: true }), SQLite.language.data.of({ autocomplete: complete })];
}

export function makeEditor(place: HTMLElement, options: EditorOptions): Editor {
  const root = place.shadowRoot ?? place.attachShadow({ mode: "open" });
  const spoken = new Compartment();
  const run = () => {
    options.onRun();
    return true;
  };
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        // Tab is left alone, so that the keyboard leads out of the editor.
        Prec.highest(keymap.of([{ key: "Mod-Enter", run }, { key: "Ctrl-Enter", run }])),
        history(),
        bracketMatching(),
        autocompletion({ icons: false }),
        keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": options.label, spellcheck: "false" }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) options.onChange(update.state.doc.toString());
        }),
        placeholder(options.hint),
        syntaxHighlighting(colours),
        look,
        typedOver,
        wrong,
        spoken.of(language({ tables: [], functions: [] })),
      ],
    }),
  });
  return {
    text: () => view.state.doc.toString(),
    setText(text) {
      if (text !== view.state.doc.toString()) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    },
    setSchema: (schema) => view.dispatch({ effects: spoken.reconfigure(language(schema)) }),
    mark(where) {
      if (!where || where.line > view.state.doc.lines) return view.dispatch({ effects: setWrong.of(null) });
      const line = view.state.doc.line(where.line);
      const from = Math.min(line.to, line.from + where.column - 1);
      const length = /^\w+|^./.exec(line.text.slice(from - line.from))?.[0].length ?? 0;
      view.dispatch({ effects: setWrong.of(length > 0 ? { from, to: from + length } : null) });
    },
    destroy: () => view.destroy(),
  };
}
