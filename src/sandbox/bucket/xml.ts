/** XML elements by name: text, a list of elements with the same name, or nested elements. Undefined elements are omitted. */
export type Xml = { [name: string]: XmlValue | XmlValue[] };
type XmlValue = string | number | boolean | undefined | Xml;

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  // A parser would read an unescaped carriage return as a line feed.
  '\r': '&#13;',
};

/** Returns an XML document with one root element. Characters that XML doesn't allow become U+FFFD. */
export function xmlDocument(root: string, content: Xml | string): string {
  const namespace = root === 'Error' ? '' : ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';
  const inner = typeof content === 'string' ? escaped(content) : elements(content);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root}${namespace}>${inner}</${root}>`;
}

function elements(content: Xml): string {
  return Object.entries(content)
    .flatMap(([name, value]) =>
      Array.isArray(value) ? value.map((one) => element(name, one)) : [element(name, value)],
    )
    .join('');
}

function element(name: string, value: XmlValue): string {
  if (value === undefined) return '';
  return `<${name}>${typeof value === 'object' ? elements(value) : escaped(String(value))}</${name}>`;
}

function escaped(text: string): string {
  return text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/gu, '\ufffd')
    .replace(/[&<>"'\r]/g, (character) => ESCAPES[character] ?? character);
}
