/** The parts of a sealed PDF. */
export interface Parts {
  text: string;
  /** The offsets of the `<` of Contents and after its `>`. */
  gapStart: number;
  gapEnd: number;
  /** The hex digits without the zeros after the DER. */
  hex: string;
  startxref: number;
  root: string;
  size: number;
}

export function partsOf(pdf: Buffer): Parts {
  const text = pdf.toString('latin1');
  const range = /\/ByteRange\s*\[\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)/.exec(text);
  const [gapStart, gapEnd] = [Number(range?.[2]), Number(range?.[3])];
  const length = derLength(Buffer.from(text.slice(gapStart + 1, gapStart + 21), 'hex'));
  return {
    text,
    gapStart,
    gapEnd,
    hex: text.slice(gapStart + 1, gapStart + 1 + 2 * length),
    startxref: Number(/startxref\s+(\d+)\s+%%EOF\s*$/.exec(text)?.[1]),
    root: /\/Root\s+(\d+ \d+ R)/.exec(text.slice(text.lastIndexOf('/Root')))?.[1] ?? '',
    size: Math.max(...[...text.matchAll(/\/Size\s+(\d+)/g)].map(([, size]) => Number(size))),
  };
}

/** Returns the length of the DER, including its tag and length. */
function derLength(head: Buffer): number {
  const first = head[1] ?? 0;
  if (first < 0x80) return first + 2;
  return head.readUIntBE(2, first & 0x7f) + 2 + (first & 0x7f);
}

/** Returns the file with a text replaced by another one of the same length. */
export function swapped(pdf: Buffer, from: string, to: string): Buffer {
  const at = pdf.indexOf(from, 0, 'latin1');
  if (at < 0 || from.length !== to.length) throw new Error(`can't swap ${from}`);
  const copy = Buffer.from(pdf);
  copy.write(to, at, 'latin1');
  return copy;
}

/** Returns the file with one bit of one byte flipped. */
export function flipped(pdf: Buffer, at: number): Buffer {
  const copy = Buffer.from(pdf);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

/** Returns the file with a bit of the signature flipped. `at` is a byte offset in the DER; `digit` selects the half of the byte. */
export function flippedInCms(pdf: Buffer, at: number, digit: 0 | 1 = 0): Buffer {
  const { gapStart } = partsOf(pdf);
  const place = gapStart + 1 + 2 * at + digit;
  const turned = Number.parseInt(String.fromCharCode(pdf[place] ?? 48), 16) ^ 1;
  const copy = Buffer.from(pdf);
  copy.write(turned.toString(16), place, 'latin1');
  return copy;
}

/** Appends an incremental update with these objects, as an editor would write it. */
export function updated(pdf: Buffer, objects: Readonly<Record<number, string>>, trailer = ''): Buffer {
  const { root, startxref, size } = partsOf(pdf);
  let text = '\n';
  const entries: string[] = [];
  for (const [number, body] of Object.entries(objects)) {
    entries.push(
      `${number} 1\n${String(pdf.length + Buffer.byteLength(text, 'latin1')).padStart(10, '0')} 00000 n \n`,
    );
    text += `${number} 0 obj\n${body}\nendobj\n`;
  }
  const at = pdf.length + Buffer.byteLength(text, 'latin1');
  const newSize = Math.max(size, ...Object.keys(objects).map((number) => Number(number) + 1));
  text += `xref\n${entries.join('')}trailer\n<< /Size ${newSize} /Root ${root} /Prev ${startxref} ${trailer} >>\n`;
  return Buffer.concat([pdf, Buffer.from(`${text}startxref\n${at}\n%%EOF\n`, 'latin1')]);
}

/** Returns the last version of an object. */
export function objectText(pdf: Buffer, number: number): string {
  const text = pdf.toString('latin1');
  const found = [...text.matchAll(new RegExp(`(?<=\\n)${number} 0 obj\\s([\\s\\S]*?)endobj`, 'g'))].at(
    -1,
  )?.[1];
  if (found === undefined) throw new Error(`The pdf has no object ${number} outside an object stream.`);
  return found.trim();
}
