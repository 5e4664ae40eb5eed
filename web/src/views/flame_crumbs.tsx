// The way from the root to where a picture begins.

import { ancestorLabel, pathToAncestor } from "../model/flame";
import type { Flame } from "../model/flame";
import { usePage } from "./hooks";

export function Crumbs({ flame, word, title }: { flame: Flame; word: "root" | "above"; title?: string }) {
  const { store } = usePage();
  if (flame.ancestors === 0) return null;
  const places = Array.from({ length: flame.ancestors + 1 }, (_, i) => i);
  return (
    <nav class="crumbs" aria-label={title ? `Where the ${title.toLowerCase()} begin` : "Where this is"}>
      {places.map((i) => (
        <button key={i} type="button" disabled={i === flame.ancestors} title={ancestorLabel(flame, i)} onClick={() => store.change({ [word]: pathToAncestor(flame, i) })}>
          {ancestorLabel(flame, i)}
        </button>
      ))}
    </nav>
  );
}
