// A share as text and as a bar.

export function ShareBar({ part, text }: { part: number; text: string }) {
  return (
    <span class="share-bar">
      <span class="text">{text}</span>
      <span class="track" aria-hidden="true">
        <span class="fill" style={{ width: `${(part * 100).toFixed(1)}%` }} />
      </span>
    </span>
  );
}
