import sax from 'sax';

/** Callbacks for parsed XML. Names have no namespace prefix. */
export interface XmlHandler {
  open?: (name: string, attribute: (name: string) => string | undefined) => void;
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
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let isEmpty = true;
  for await (const chunk of bytes) {
    isEmpty = false;
    parser.write(decoder.decode(chunk, { stream: true }));
    yield;
  }
  if (isEmpty) return;
  parser.write(decoder.decode()).close();
  yield;
}

export async function parseXml(bytes: AsyncIterable<Uint8Array>, handler: XmlHandler): Promise<void> {
  const pieces = readXml(bytes, handler);
  while (!(await pieces.next()).done);
}

function parserFor({ open, text, close }: XmlHandler): sax.SAXParser {
  const parser = sax.parser(true, { position: false });
  parser.onerror = (error) => {
    throw error;
  };
  parser.ondoctype = () => {
    throw new Error('a part has a DOCTYPE');
  };
  if (open !== undefined)
    parser.onopentag = ({ name, attributes }) =>
      open(localName(name), (attribute) => {
        const value = Object.hasOwn(attributes, attribute) ? attributes[attribute] : undefined;
        return typeof value === 'string' ? value : undefined;
      });
  if (text !== undefined) {
    parser.ontext = text;
    parser.oncdata = text;
  }
  if (close !== undefined) parser.onclosetag = (name) => close(localName(name));
  return parser;
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
