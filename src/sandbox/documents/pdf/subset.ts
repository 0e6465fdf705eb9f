/**
 * Reduces a TrueType font to some glyphs. Glyph numbers stay the same and unused outlines become empty. The remaining tables of zeros
 * compress to almost nothing.
 */

/** The tables that a PDF reader needs from a font that is addressed by glyph number (ISO 32000-1, 9.9). */
const REQUIRED_TABLES = new Set(['cvt ', 'fpgm', 'glyf', 'head', 'hhea', 'hmtx', 'loca', 'maxp', 'prep']);

const ARGUMENTS_ARE_WORDS = 0x0001;
const HAS_SCALE = 0x0008;
const MORE_COMPONENTS = 0x0020;
const HAS_XY_SCALE = 0x0040;
const HAS_TWO_BY_TWO = 0x0080;

/** Returns a font file with only the given glyphs. Throws if the font has no TrueType outlines. */
export function subsetFont(font: Buffer, glyphIds: Iterable<number>): Buffer {
  const tables = readTables(font);
  const head = Buffer.from(table(tables, 'head'));
  const isLong = head.readInt16BE(50) === 1;
  const offsets = glyphOffsets(table(tables, 'loca'), isLong, table(tables, 'maxp').readUInt16BE(4));
  const outlines = table(tables, 'glyf');
  const outline = (id: number): Buffer =>
    outlines.subarray(offsets[id] ?? 0, offsets[id + 1] ?? offsets[id] ?? 0);
  const used = withComponents(glyphIds, outline);

  const parts: Buffer[] = [];
  const loca = Buffer.alloc(4 * offsets.length);
  let position = 0;
  for (let id = 0; id < offsets.length; id++) {
    loca.writeUInt32BE(position, 4 * id);
    if (!used.has(id)) continue;
    const bytes = padded(outline(id));
    parts.push(bytes);
    position += bytes.length;
  }
  head.writeInt16BE(1, 50);
  const metrics = usedMetrics(table(tables, 'hmtx'), table(tables, 'hhea').readUInt16BE(34), used);
  tables.set('head', head).set('loca', loca).set('glyf', Buffer.concat(parts)).set('hmtx', metrics);
  return writeTables([...tables].filter(([tag]) => REQUIRED_TABLES.has(tag)));
}

function table(tables: Map<string, Buffer>, tag: string): Buffer {
  const found = tables.get(tag);
  if (!found) throw new Error(`The font has no ${tag} table.`);
  return found;
}

function readTables(font: Buffer): Map<string, Buffer> {
  const tables = new Map<string, Buffer>();
  for (let index = 0; index < font.readUInt16BE(4); index++) {
    const record = 12 + 16 * index;
    const offset = font.readUInt32BE(record + 8);
    tables.set(
      font.toString('latin1', record, record + 4),
      font.subarray(offset, offset + font.readUInt32BE(record + 12)),
    );
  }
  return tables;
}

function glyphOffsets(loca: Buffer, long: boolean, glyphCount: number): number[] {
  return Array.from({ length: glyphCount + 1 }, (_, index) =>
    long ? loca.readUInt32BE(4 * index) : 2 * loca.readUInt16BE(2 * index),
  );
}

/** Returns the glyphs and their components. Glyph 0 is always part of a font. */
function withComponents(glyphIds: Iterable<number>, outline: (id: number) => Buffer): Set<number> {
  const used = new Set([0]);
  const waiting = [...glyphIds];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    used.add(id);
    waiting.push(...componentsOf(outline(id)).filter((component) => !used.has(component)));
  }
  return used;
}

/** Returns the glyph numbers that a composite outline refers to (OpenType, glyf table). */
function componentsOf(outline: Buffer): number[] {
  if (outline.length < 10 || outline.readInt16BE(0) >= 0) return [];
  const ids: number[] = [];
  let position = 10;
  let flags = MORE_COMPONENTS;
  while ((flags & MORE_COMPONENTS) !== 0) {
    flags = outline.readUInt16BE(position);
    ids.push(outline.readUInt16BE(position + 2));
    position += 4 + ((flags & ARGUMENTS_ARE_WORDS) !== 0 ? 4 : 2);
    if ((flags & HAS_SCALE) !== 0) position += 2;
    else if ((flags & HAS_XY_SCALE) !== 0) position += 4;
    else if ((flags & HAS_TWO_BY_TWO) !== 0) position += 8;
  }
  return ids;
}

function usedMetrics(hmtx: Buffer, fullCount: number, used: Set<number>): Buffer {
  const result = Buffer.alloc(hmtx.length);
  for (const id of used) {
    // The last full metric also has the advance of every glyph after it.
    const full = Math.min(id, fullCount - 1);
    hmtx.copy(result, 4 * full, 4 * full, 4 * full + 4);
    if (id >= fullCount) {
      const bearing = 4 * fullCount + 2 * (id - fullCount);
      hmtx.copy(result, bearing, bearing, bearing + 2);
    }
  }
  return result;
}

function writeTables(tables: [tag: string, data: Buffer][]): Buffer {
  const header = Buffer.alloc(12 + 16 * tables.length);
  const power = Math.floor(Math.log2(tables.length));
  header.writeUInt32BE(0x00010000, 0);
  header.writeUInt16BE(tables.length, 4);
  header.writeUInt16BE(16 << power, 6);
  header.writeUInt16BE(power, 8);
  header.writeUInt16BE(16 * tables.length - (16 << power), 10);
  const parts: Buffer[] = [header];
  let position = header.length;
  for (const [index, [tag, data]] of tables.entries()) {
    const record = 12 + 16 * index;
    const bytes = padded(data);
    header.write(tag, record, 'latin1');
    header.writeUInt32BE(checksum(bytes), record + 4);
    header.writeUInt32BE(position, record + 8);
    header.writeUInt32BE(data.length, record + 12);
    parts.push(bytes);
    position += bytes.length;
  }
  return Buffer.concat(parts);
}

function padded(data: Buffer): Buffer {
  return data.length % 4 === 0 ? data : Buffer.concat([data, Buffer.alloc(4 - (data.length % 4))]);
}

function checksum(data: Buffer): number {
  let sum = 0;
  for (let position = 0; position < data.length; position += 4)
    sum = (sum + data.readUInt32BE(position)) >>> 0;
  return sum;
}
