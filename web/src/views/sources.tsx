// A choice among sources: files and processes, then the snapshots that are kept of each process.

import type { SourceFacts } from "../api/types";
import { grouped } from "../model/compare";
import { labelOf } from "../model/sources";

export function SourceOptions({ sources, figures }: { sources: SourceFacts[]; figures?: Map<string, string> }) {
  // In its group, a snapshot is known by its time.
  const text = (one: SourceFacts) => (figures?.has(one.id) ? `${one.title.replace(/^.* at (?=[\d:]+ UTC)/, "")} · ${figures.get(one.id)}` : labelOf(one));
  return (
    <>
      {grouped(sources).map((group) =>
        group.title === ""
          ? group.sources.map((one) => <option key={one.id} value={one.id}>{text(one)}</option>)
          : <optgroup key={group.title} label={group.title}>{group.sources.map((one) => <option key={one.id} value={one.id}>{text(one)}</option>)}</optgroup>,
      )}
    </>
  );
}
