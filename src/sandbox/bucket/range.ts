/** The bytes from `start` up to, but not including, `end`. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * Resolves a Range header for an object's size. Returns a range; `whole` if the header is missing or S3 ignores it (several ranges, other
 * units, invalid); or `unsatisfiable` if no byte of the range exists (416).
 */
export function parseRange(header: string | undefined, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  const parts = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '');
  if (parts === null) return 'whole';
  const [, first = '', last = ''] = parts;
  if (first === '') return last === '' ? 'whole' : suffix(Math.min(Number(last), size), size);
  const start = Number(first);
  const end = last === '' ? size : Math.min(Number(last) + 1, size);
  if (last !== '' && Number(last) < start) return 'whole';
  return start >= size ? 'unsatisfiable' : { start, end };
}

function suffix(length: number, size: number): ByteRange | 'unsatisfiable' {
  return length === 0 ? 'unsatisfiable' : { start: size - length, end: size };
}
