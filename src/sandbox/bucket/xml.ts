/** A tree of XML elements: text, a list of same-named elements, or nested elements. */
export type Xml = { [name: string]: string | number | boolean | undefined | Xml | Xml[] };

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** An XML document with one root element. Characters XML cannot hold become U+FFFD. */
export function xmlDocument(root: string, content: Xml): string {
  const namespace = root === 'Error' ? '' : ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root}${namespace}>${elements(content)}</${root}>`;
}

function elements(content: Xml): string {
  return Object.entries(content)
    .flatMap(([name, value]) =>
      Array.isArray(value) ? value.map((one) => element(name, one)) : [element(name, value)],
    )
    .join('');
}

function element(name: string, value: string | number | boolean | undefined | Xml): string {
  if (value === undefined) return '';
  return `<${name}>${typeof value === 'object' ? elements(value) : escaped(String(value))}</${name}>`;
}

function escaped(text: string): string {
  return text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/gu, '\ufffd')
    .replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}
