/** A JSON string, or a number outside of strings. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Returns the numbers in a JSON text that don't survive parsing and serializing unchanged, such as 1e400. */
export function inexactNumbers(json: string): string[] {
  const numbers = [...json.matchAll(TOKEN)].map(([token]) => token).filter((token) => !token.startsWith('"'));
  return numbers.filter((token) => !isExact(token));
}

function isExact(token: string): boolean {
  const value = Number(token);
  return Number.isFinite(value) && decimal(token) === decimal(String(value));
}

/** Returns a normalized form of a number: `1.50e3` and `1500` both become `15e2`. */
function decimal(token: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(token) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  if (kept === '') return '0';
  return `${sign}${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`;
}
