import { ended, type PdfBytes } from './pdf-bytes.ts';
import { PdfParser, TruncatedError } from './pdf-parser.ts';
import { countOf, nameOf, type PdfStream, type PdfValue, UnreadablePdfError } from './pdf-values.ts';
import { unpack } from './streams.ts';

/** The maximum number of objects in an update. Validation data are a few dozen objects. */
export const MAX_OBJECTS = 10_000;
/** Text that a reader may mistake for an object or trailer when it repairs a damaged file. */
export const HIDDEN_STRUCTURE = /\d\s+obj|endobj|endstream|trailer|xref/;

const KEYS = new Set(['Type', 'N', 'First', 'Length', 'Filter', 'DecodeParms']);
const INDEX = /^[ \r\n]*(?:(?:0|[1-9]\d{0,6})[ \r\n]+)+$/;
const WHITESPACE = /^[ \r\n]*$/;

/** Reads the objects of an added object stream in order, and accounts for all of its bytes. @throws UnreadablePdfError. */
export function packedObjects(
  bytes: PdfBytes,
  stream: PdfStream,
): readonly { number: number; value: PdfValue }[] {
  const { dict } = stream;
  const [count, first] = [countOf(dict.get('N')), countOf(dict.get('First'))];
  requireSupported(
    [...dict.entries.keys()].every((key) => KEYS.has(key)),
    'unsupported object stream',
  );
  requireSupported(
    nameOf(dict.get('Type')) === 'ObjStm' && count !== undefined && first !== undefined,
    'missing object stream',
  );
  const data = unpack(bytes, stream);
  const text = data.toString('latin1');
  const index = `${text.slice(0, first)} `;
  requireSupported(
    count <= MAX_OBJECTS && INDEX.test(index) && !HIDDEN_STRUCTURE.test(text),
    'unsupported object stream',
  );
  const numbers = index
    .trim()
    .split(/[ \r\n]+/)
    .map(Number);
  requireSupported(numbers.length === 2 * count, 'wrong number of objects in an object stream');
  const parser = new PdfParser(ended(data), { at: first, isStrict: true });
  const skipTo = (at: number) =>
    requireSupported(
      parser.position <= at && WHITESPACE.test(text.slice(parser.position, at)),
      'gaps in an object stream',
    );
  const found = Array.from({ length: count }, (_, place) => {
    skipTo(first + (numbers[2 * place + 1] ?? 0));
    return { number: numbers[2 * place] ?? 0, value: parseComplete(() => parser.value()) };
  });
  skipTo(text.length);
  return found;
}

/** Runs `parse`. @throws UnreadablePdfError also if the bytes end inside a value. */
export function parseComplete<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    requireSupported(!(error instanceof TruncatedError), 'incomplete object');
    throw error;
  }
}

export function requireSupported(condition: boolean, problem: string): asserts condition {
  if (!condition) throw new UnreadablePdfError(`The additions are not a supported update: ${problem}.`);
}
