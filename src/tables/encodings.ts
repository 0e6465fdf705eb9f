import { UsageError } from '../kernel/errors.ts';

/** Decodes bytes in chunks, and throws if they are not valid in its encoding. */
export interface Decoder {
  decode(bytes?: Uint8Array, options?: { stream?: boolean }): string;
}

/** Encodings that the runtime decodes correctly. All others need a library. */
const NATIVE = ['utf-8', 'utf-16le', 'utf-16be'];
/** The encoding whose labels stand for encodings that browsers refuse to decode. */
const UNSUPPORTED = 'replacement';

/**
 * Returns the name of the encoding with this label (https://encoding.spec.whatwg.org/#names-and-labels).
 * @throws UsageError for an unknown label.
 */
export async function encodingNamed(label: string): Promise<string> {
  const native = nativeName(label);
  if (native !== undefined) return native;
  const { normalizeEncoding } = await import('@exodus/bytes/encoding.js');
  const name = normalizeEncoding(label);
  if (name !== null && name !== UNSUPPORTED) return name;
  throw new UsageError(`--encoding "${label}" is not a known encoding.`, {
    hint: 'Use a name such as windows-1252, iso-8859-2, utf-16le, or shift_jis.',
  });
}

function nativeName(label: string): string | undefined {
  try {
    const { encoding } = new TextDecoder(label);
    return NATIVE.includes(encoding) ? encoding : undefined;
  } catch {
    return undefined;
  }
}

/** Creates a decoder that skips a byte order mark. `encoding` is a name that `encodingNamed` returned. */
export async function decoderOf(encoding: string): Promise<Decoder> {
  if (NATIVE.includes(encoding)) return new TextDecoder(encoding, { fatal: true });
  // Node 20 decodes 0x80–0x9F of windows-1252 as control characters, and lacks two encodings.
  const { TextDecoder: Legacy } = await import('@exodus/bytes/encoding.js');
  return new Legacy(encoding, { fatal: true });
}

const MARKS: readonly (readonly [readonly number[], string])[] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
];

/** Returns the encoding of a byte order mark and the length of the mark in bytes, or undefined without a mark. */
export function byteOrderMarkOf(start: Uint8Array): { encoding: string; length: number } | undefined {
  const found = MARKS.find(([mark]) => startsWithBytes(start, mark));
  return found && { encoding: found[1], length: found[0].length };
}

export function startsWithBytes(bytes: Uint8Array, start: readonly number[]): boolean {
  return start.every((byte, index) => bytes[index] === byte);
}
