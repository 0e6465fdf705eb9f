import sax from 'sax';
import { byteOrderMarkOf, type Decoder, startsWithBytes } from '../encodings.ts';
import { LineBreaks } from '../line-breaks.ts';

/** Returns the value of an attribute without a namespace. With a namespace, it is the one whose last word is given. */
export type Attribute = (name: string, namespace?: string) => string | undefined;

/**
 * Callbacks for parsed XML. Names have no prefix. Elements in another namespace than the root are extensions that some program
 * added, and are left out with everything inside them.
 */
export interface XmlHandler {
  open?: (name: string, attribute: Attribute) => void;
  text?: (text: string) => void;
  close?: (name: string) => void;
}

/**
 * Parses XML as it is read, and yields after each chunk, so that the caller can process what the handler has found.
 * @throws Error if it is not well-formed, or has a DOCTYPE, whose entities could grow without bounds.
 */
export async function* readXml(
  bytes: AsyncIterable<Uint8Array>,
  handler: XmlHandler,
): AsyncGenerator<void, void, undefined> {
  const parser = parserFor(handler);
  let decoder: Decoder | undefined;
  const breaks = new LineBreaks();
  for await (const chunk of bytes) {
    decoder ??= new TextDecoder(encodingOf(chunk), { fatal: true });
    parser.write(breaks.add(decoder.decode(chunk, { stream: true })));
    yield;
  }
  if (decoder === undefined) return;
  parser.write(breaks.add(decoder.decode()) + breaks.end()).close();
  yield;
}

/** Returns the encoding of a part, which is UTF-8 or UTF-16 (ECMA-376, part 2, section 6.5.3), by its first bytes. */
function encodingOf(start: Uint8Array): string {
  const LESS_THAN = 0x3c;
  if (startsWithBytes(start, [LESS_THAN, 0])) return 'utf-16le';
  if (startsWithBytes(start, [0, LESS_THAN])) return 'utf-16be';
  return byteOrderMarkOf(start)?.encoding ?? 'utf-8';
}

export async function parseXml(bytes: AsyncIterable<Uint8Array>, handler: XmlHandler): Promise<void> {
  const pieces = readXml(bytes, handler);
  while (!(await pieces.next()).done);
}

function parserFor({ open, text, close }: XmlHandler): sax.SAXParser {
  const parser = sax.parser(true, { position: false, xmlns: true });
  let namespace: string | undefined;
  /** The number of open elements in an extension, which is the first of them. */
  let depth = 0;
  parser.onerror = (error) => {
    throw error;
  };
  parser.ondoctype = () => {
    throw new Error('a part has a DOCTYPE');
  };
  parser.onopentag = (tag) => {
    if (!('uri' in tag)) return;
    namespace ??= tag.uri;
    if (depth > 0 || tag.uri !== namespace) depth++;
    else open?.(tag.local, attributeOf(tag));
  };
  parser.ontext = parser.oncdata = (piece) => {
    if (depth === 0) text?.(piece);
  };
  parser.onclosetag = (name) => {
    if (depth > 0) depth--;
    else close?.(name.slice(name.indexOf(':') + 1));
  };
  return parser;
}

function attributeOf({ attributes }: sax.QualifiedTag): Attribute {
  return (name, namespace) => {
    if (namespace === undefined) return Object.hasOwn(attributes, name) ? attributes[name]?.value : undefined;
    return Object.values(attributes).find(({ local, uri }) => local === name && uri.endsWith(`/${namespace}`))
      ?.value;
  };
}
