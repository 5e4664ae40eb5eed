// Names of functions in little room, much as the command line cuts them (core/base/short_name.h): template arguments
// go first, then outer scopes; the function and its class stay as long as they can. Shorter, as boxes are often narrow:
// arguments go all at once, and what is left is cut at its end.

// Where brackets of templates and parameters open and close; a name that has them odd is one piece.
function scopesOf(name: string): string[] {
  const scopes: string[] = [];
  let depth = 0;
  let begin = 0;
  for (let i = 0; i < name.length; ++i) {
    const letter = name[i]!;
    if ("<({[".includes(letter)) ++depth;
    else if (">)}]".includes(letter)) depth = Math.max(0, depth - 1);
    else if (depth === 0 && letter === ":" && name[i + 1] === ":") {
      scopes.push(name.slice(begin, i));
      begin = i + 2;
      ++i;
    }
  }
  scopes.push(name.slice(begin));
  // What a lambda does is told by the function around it.
  while (scopes.length > 1 && /^(operator\(\)|[{'])/.test(scopes[scopes.length - 1]!)) {
    const last = scopes.pop()!;
    scopes[scopes.length - 1] += `::${last}`;
  }
  return scopes;
}

const folded = (scope: string): string => (/\boperator\b/.test(scope) ? scope : scope.replace(/(\w)<.*>/, "$1<…>"));

// Boxes are drawn many times a second.
const MOST_KNOWN = 4000;
const known = new Map<string, string[]>();

function foldedScopes(name: string): string[] {
  const found = known.get(name);
  if (found) return found;
  if (known.size >= MOST_KNOWN) known.clear();
  const scopes = scopesOf(name).map(folded);
  known.set(name, scopes);
  return scopes;
}

export function cutName(name: string, room: number): string {
  if (name.length <= room) return name;
  const scopes = foldedScopes(name);
  const whole = scopes.join("::");
  if (whole.length <= room) return whole;
  for (let i = 1; i < scopes.length; ++i) {
    const rest = `…${scopes.slice(i).join("::")}`;
    if (rest.length <= room) return rest;
  }
  return `${scopes[scopes.length - 1]!.slice(0, Math.max(0, room - 1))}…`;
}
