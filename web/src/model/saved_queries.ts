// Statements that somebody has given a name, as a word of the address: they go with a link.

export interface SavedQuery {
  name: string;
  sql: string;
}

const MOST = 50;

export function readSaved(text: string | undefined): SavedQuery[] {
  if (!text) return [];
  try {
    const list = JSON.parse(text) as unknown;
    if (!Array.isArray(list)) return [];
    return list
      .filter((one): one is [string, string] => Array.isArray(one) && one.length === 2 && one.every((part) => typeof part === "string"))
      .slice(0, MOST)
      .map(([name, sql]) => ({ name, sql }));
  } catch {
    return []; // an address may say anything
  }
}

export function savedText(list: readonly SavedQuery[]): string {
  return list.length === 0 ? "" : JSON.stringify(list.map(({ name, sql }) => [name, sql]));
}

// In place of one of the same name.
export function withSaved(list: readonly SavedQuery[], one: SavedQuery): SavedQuery[] {
  return [...list.filter(({ name }) => name !== one.name), one].slice(-MOST);
}

// Where an error is: "... (line 2, column 5 of the query)".
export function placeOfError(message: string): { line: number; column: number } | null {
  const found = /\(line (\d+), column (\d+) of the query\)$/.exec(message);
  return found ? { line: Number(found[1]), column: Number(found[2]) } : null;
}
