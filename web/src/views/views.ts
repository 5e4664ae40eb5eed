// The views of the page, in the order of their tabs. A new view is one file and one line here.

import type { ComponentType } from "preact";
import { CallersView } from "./callers";
import { CompareView } from "./compare";
import { FlameView } from "./flame";
import { GraphView } from "./graph";
import { LeaksView } from "./leaks";
import { LifetimesView } from "./lifetimes";
import { MemoryView } from "./memory";
import { OverviewView } from "./overview";
import { ProcessesView } from "./processes";
import { QueryView } from "./query";
import { SourceView } from "./source";
import { TableView } from "./table";
import { TimelineView } from "./timeline";
import { TreeView } from "./tree";

export interface View {
  word: string; // in the address
  title: string;
  filtered: boolean; // it is about a source and its filter
  figureless?: true; // it is the same whatever figure is chosen
  served?: true; // it is nothing without a server
  component: ComponentType;
}

export const VIEWS: View[] = [
  { word: "overview", title: "Overview", filtered: true, component: OverviewView },
  { word: "timeline", title: "Timeline", filtered: true, component: TimelineView },
  { word: "flame", title: "Flame graph", filtered: true, component: FlameView },
  { word: "table", title: "Table", filtered: true, component: TableView },
  { word: "tree", title: "Call tree", filtered: true, component: TreeView },
  { word: "callers", title: "Callers", filtered: true, component: CallersView },
  { word: "graph", title: "Call graph", filtered: true, component: GraphView },
  { word: "source", title: "Source", filtered: true, component: SourceView },
  { word: "leaks", title: "Leaks", filtered: true, figureless: true, component: LeaksView },
  { word: "lifetimes", title: "Lifetimes", filtered: true, figureless: true, component: LifetimesView },
  { word: "memory", title: "Memory map", filtered: true, figureless: true, component: MemoryView },
  { word: "compare", title: "Compare", filtered: true, component: CompareView },
  { word: "query", title: "Query", filtered: true, served: true, component: QueryView },
  { word: "processes", title: "Processes", filtered: false, served: true, component: ProcessesView },
];
