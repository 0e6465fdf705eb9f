import { UsageError } from '../../kernel/errors.ts';

/** The first bytes of files that are not UTF-8 text. */
const OTHER_KINDS: readonly (readonly [readonly number[], string])[] = [
  [[0xff, 0xfe], 'is UTF-16 text'],
  [[0xfe, 0xff], 'is UTF-16 text'],
  [[0x50, 0x4b, 0x03, 0x04], 'is a spreadsheet or another zipped file'],
  [[0xd0, 0xcf, 0x11, 0xe0], 'is an old spreadsheet'],
  [[0x1f, 0x8b], 'is compressed'],
  [[...Buffer.from('%PDF-')], 'is a PDF'],
  [[...Buffer.from('{\\rtf')], 'is a text document with formatting (RTF)'],
  [[...Buffer.from('<html')], 'is a web page'],
  [[...Buffer.from('<!DOCTYPE')], 'is a web page'],
  [[...Buffer.from('<?xml')], 'is XML'],
  [[0x89, 0x50, 0x4e, 0x47], 'is an image'],
  [[0xff, 0xd8, 0xff], 'is an image'],
];
const HINT = 'Save it as CSV in UTF-8 ("CSV UTF-8" in a spreadsheet program). Nothing was sent.';

/**
 * The text of a file as it is read, without its byte order mark and with one kind of line break.
 * @throws UsageError naming the line of the first byte that is not UTF-8.
 */
export async function* textOf(
  bytes: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 1;
  let first = true;
  let heldReturn = '';
  for await (const chunk of bytes) {
    if (first && chunk.length > 0) refuseOtherKinds(chunk, name);
    first &&= chunk.length === 0;
    const decoded = heldReturn + decode(() => decoder.decode(chunk, { stream: true }), chunk, name, line);
    // A return at the end of a chunk may be the first half of a line break.
    heldReturn = decoded.endsWith('\r') ? '\r' : '';
    const text = decoded.slice(0, decoded.length - heldReturn.length).replace(/\r\n?/g, '\n');
    line += countOf(text, '\n');
    if (text !== '') yield text;
  }
  const rest = decode(() => decoder.decode(), new Uint8Array(), name, line);
  if (heldReturn + rest !== '') yield `${heldReturn}${rest}`.replace(/\r\n?/g, '\n');
}

function decode(run: () => string, chunk: Uint8Array, name: string, line: number): string {
  try {
    return run();
  } catch {
    const readable = new TextDecoder().decode(chunk).replace(/\r\n?/g, '\n');
    const at = line + countOf(readable.slice(0, Math.max(0, readable.indexOf('\ufffd'))), '\n');
    throw new UsageError(`${name}:${at} is not UTF-8 text.`, { hint: HINT });
  }
}

function refuseOtherKinds(chunk: Uint8Array, name: string): void {
  for (const [start, what] of OTHER_KINDS) {
    if (start.every((byte, index) => chunk[index] === byte))
      throw new UsageError(`${name} ${what}.`, { hint: HINT });
  }
  if (chunk.subarray(0, 4_096).includes(0)) throw new UsageError(`${name} is not text.`, { hint: HINT });
}

function countOf(text: string, character: string): number {
  let count = 0;
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) count++;
  return count;
}

const LONGEST_LINE = 65_536;

/** The text up to the first line break, and the whole text again. */
export async function peek(
  text: AsyncIterable<string>,
): Promise<{ head: string; all: AsyncIterable<string> }> {
  const source = text[Symbol.asyncIterator]();
  let head = '';
  while (!head.includes('\n') && head.length < LONGEST_LINE) {
    const next = await source.next();
    if (next.done) break;
    head += next.value;
  }
  async function* all(): AsyncGenerator<string, void, undefined> {
    if (head !== '') yield head;
    for (let next = await source.next(); !next.done; next = await source.next()) yield next.value;
  }
  return { head, all: all() };
}
