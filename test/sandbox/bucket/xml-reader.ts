/** An element of an S3 request body: text or children, no attributes, no namespace prefix. */
export interface XmlElement {
  name: string;
  text: string;
  children: XmlElement[];
}

const MAX_DEPTH = 8;
const TOKENS = {
  skipped: /<\?[^>]*\?>|<!--[\s\S]*?-->/y,
  cdata: /<!\[CDATA\[([\s\S]*?)\]\]>/y,
  close: /<\/(?:[\w.-]+:)?([\w.-]+)\s*>/y,
  open: /<(?:[\w.-]+:)?([\w.-]+)(?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*(\/?)>/y,
  text: /[^<]+/y,
};
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/**
 * Parses a small XML document without a document type, so that no entity can be defined.
 * @throws Error if it is not well-formed.
 */
export function readXml(text: string): XmlElement {
  const document: XmlElement = { name: '', text: '', children: [] };
  const path = [document];
  const source = text.replace(/^\ufeff/, '');
  for (let at = 0; at < source.length; ) at = readToken(source, at, path);
  const [root, another] = document.children;
  if (path.length !== 1 || root === undefined || another !== undefined || document.text.trim() !== '')
    throw malformed();
  return root;
}

/** Returns the text of the first child with that name; undefined if it is missing. */
export function childText(element: XmlElement, name: string): string | undefined {
  return element.children.find((child) => child.name === name)?.text;
}

/** Parses what begins at `at` into the innermost open element and returns its end. */
function readToken(source: string, at: number, path: XmlElement[]): number {
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at;
    return pattern.exec(source);
  };
  const parent = path.at(-1);
  if (parent === undefined) throw malformed();
  const text = match(TOKENS.text);
  if (text) parent.text += unescaped(text[0]);
  const cdata = match(TOKENS.cdata);
  if (cdata) parent.text += cdata[1] ?? '';
  const open = match(TOKENS.open);
  if (open) openElement(open[1] ?? '', open[2] === '/', path, parent);
  const close = match(TOKENS.close);
  if (close && (path.length < 2 || path.pop()?.name !== close[1])) throw malformed();
  const token = text ?? cdata ?? open ?? close ?? match(TOKENS.skipped);
  if (token === null) throw malformed();
  return at + token[0].length;
}

function openElement(name: string, isEmpty: boolean, path: XmlElement[], parent: XmlElement): void {
  const element: XmlElement = { name, text: '', children: [] };
  parent.children.push(element);
  if (path.length > MAX_DEPTH) throw malformed();
  if (!isEmpty) path.push(element);
}

function unescaped(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w{1,5}));|&/gi, (whole, hex, decimal, name) => {
    const entity = ENTITIES[String(name)];
    if (entity !== undefined) return entity;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(String(hex), 16);
    if (whole === '&' || !(code <= 0x10ffff) || (code >= 0xd800 && code <= 0xdfff)) throw malformed();
    return String.fromCodePoint(code);
  });
}

function malformed(): Error {
  return new Error('The XML is not well-formed.');
}
