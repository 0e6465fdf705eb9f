import type { Element } from '../asn1.ts';

const UTF8 = 0x0c;
const PRINTABLE = 0x13;
const TELETEX = 0x14;
const IA5 = 0x16;
const BMP = 0x1e;

/**
 * Returns a distinguished name as one string per relative name, normalized so that two spellings of a name are equal: letter case, repeated
 * spaces (RFC 5280, 7.1), and the type of string are ignored.
 */
export function nameOf(name: Element): string[] {
  return name.parts.map(({ parts }) =>
    parts
      .map((attribute) => `${attribute.part(0).oid}=${attributeValue(attribute.part(1))}`)
      .sort()
      .join('+'),
  );
}

function attributeValue(value: Element): string {
  const text = textOf(value);
  return text === undefined ? `#${value.raw.toString('hex')}` : JSON.stringify(normalized(text));
}

function normalized(text: string): string {
  return text.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase();
}

/** Returns the text of a string element, or undefined for anything else. */
function textOf({ raw, content }: Element): string | undefined {
  const [tag] = raw;
  if (tag === UTF8) return content.toString('utf8');
  if (tag === PRINTABLE || tag === IA5 || tag === TELETEX) return content.toString('latin1');
  if (tag !== BMP || content.length % 2 !== 0) return undefined;
  return Buffer.from(content).swap16().toString('utf16le');
}
