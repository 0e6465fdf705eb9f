// Writes the fonts of the sandbox's documents to dist/fonts as plain TrueType, with a list of the characters that each one covers.
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { inflateSync } from 'node:zlib';

const root = join(import.meta.dirname, '..');
const OUT = join(root, 'dist/fonts');

/** Fonts that are always loaded. `use` is the name that the documents use for them. */
const FACES = [
  { use: 'text', package: '@expo-google-fonts/noto-sans', file: '400Regular/NotoSans_400Regular.ttf' },
  { use: 'strong', package: '@expo-google-fonts/noto-sans', file: '600SemiBold/NotoSans_600SemiBold.ttf' },
  { use: 'hand', package: '@expo-google-fonts/caveat', file: '500Medium/Caveat_500Medium.ttf' },
  { use: 'mono', package: '@fontsource/noto-sans-mono', subset: 'latin' },
];

/** Fallback fonts, in order, for characters that the current font lacks. They are loaded only when needed. */
const FALLBACKS = [
  { package: '@fontsource/noto-sans-hebrew', subset: 'hebrew' },
  { package: '@fontsource/noto-sans-arabic', subset: 'arabic' },
  { package: '@fontsource/noto-sans-thai', subset: 'thai' },
  {
    package: '@fontsource/nanum-gothic',
    subset: 'korean',
    ranges: [
      [0x1100, 0x11ff],
      [0x3130, 0x318f],
      [0xac00, 0xd7a3],
    ],
  },
  { package: '@fontsource/noto-sans-sc', slices: true },
  { package: '@fontsource/noto-emoji', subset: 'emoji', ranges: 'union' },
];

/** The folders of the font packages. */
export const fontPackages = [...FACES, ...FALLBACKS].map((font) => `node_modules/${font.package}`);

/** Han, kana, bopomofo, and full-width forms: the parts of a Chinese font that the documents need. */
const CJK = [
  [0x2e80, 0x9fff],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe4f],
  [0xff00, 0xffef],
  [0x20000, 0x3ffff],
];

/** Writes the fonts, their licenses, and `fonts.json` to dist/fonts, unless they are there in the same versions. */
export async function prepareFonts() {
  const sources = {};
  for (const { package: name } of [...FACES, ...FALLBACKS])
    sources[name] = JSON.parse(await readFile(join(packageFolder(name), 'package.json'), 'utf8')).version;
  if (await isCurrent(sources)) return;
  await mkdir(join(OUT, 'licenses'), { recursive: true });
  const faces = [];
  for (const face of FACES) faces.push({ use: face.use, file: await write(face, face.subset) });
  const fallbacks = [];
  for (const font of FALLBACKS)
    for (const { subset, ranges } of await partsOf(font))
      fallbacks.push({ file: await write(font, subset), ranges });
  for (const name of Object.keys(sources)) await copyLicense(name);
  // Written last, because its presence shows that the folder is complete.
  await replace('fonts.json', JSON.stringify({ sources, faces, fallbacks }));
}

async function isCurrent(sources) {
  try {
    const list = JSON.parse(await readFile(join(OUT, 'fonts.json'), 'utf8'));
    return JSON.stringify(list.sources) === JSON.stringify(sources);
  } catch {
    return false;
  }
}

/** Returns the subsets of a fallback font that the documents need, and the characters that each one covers. */
async function partsOf({ package: name, subset, ranges, slices }) {
  const coverage = JSON.parse(await readFile(join(packageFolder(name), 'unicode.json'), 'utf8'));
  const all = Object.entries(coverage).filter(([key]) => key.startsWith('['));
  if (ranges === 'union') return [{ subset, ranges: all.flatMap(([, text]) => rangesOf(text)) }];
  if (!slices) return [{ subset, ranges: ranges ?? rangesOf(coverage[subset]) }];
  return all
    .map(([key, text]) => ({ subset: key.slice(1, -1), ranges: rangesOf(text).filter(touchesCjk) }))
    .filter((slice) => slice.ranges.length > 0);
}

/** Writes one font file as TrueType, and returns its name. Fontsource names its files `<family>-<subset>-400-normal`. */
async function write(font, subset) {
  const folder = packageFolder(font.package);
  if (subset === undefined) return replace(basename(font.file), await readFile(join(folder, font.file)));
  const family = font.package.split('/')[1];
  const woff = await readFile(join(folder, 'files', `${family}-${subset}-400-normal.woff`));
  return replace(`${family}-${subset}.ttf`, fromWoff(woff));
}

function rangesOf(text) {
  return text.split(',').map((range) => {
    const [first, last] = range.trim().slice(2).split('-');
    return [Number.parseInt(first, 16), Number.parseInt(last ?? first, 16)];
  });
}

function touchesCjk([first, last]) {
  return CJK.some(([from, to]) => first <= to && last >= from);
}

/** Converts WOFF 1.0 to TrueType. A WOFF file is a TrueType file whose tables are deflated one by one (W3C WOFF File Format 1.0, section 4). */
function fromWoff(woff) {
  if (woff.toString('latin1', 0, 4) !== 'wOFF') throw new Error('not a WOFF file');
  const count = woff.readUInt16BE(12);
  const header = Buffer.alloc(12 + 16 * count);
  const power = Math.floor(Math.log2(count));
  woff.copy(header, 0, 4, 8);
  header.writeUInt16BE(count, 4);
  header.writeUInt16BE(16 << power, 6);
  header.writeUInt16BE(power, 8);
  header.writeUInt16BE(16 * count - (16 << power), 10);
  const parts = [header];
  let position = header.length;
  for (let index = 0; index < count; index++) {
    const entry = 44 + 20 * index;
    const offset = woff.readUInt32BE(entry + 4);
    const packedLength = woff.readUInt32BE(entry + 8);
    const length = woff.readUInt32BE(entry + 12);
    const packed = woff.subarray(offset, offset + packedLength);
    const table = packedLength < length ? inflateSync(packed) : packed;
    const record = 12 + 16 * index;
    woff.copy(header, record, entry, entry + 4);
    woff.copy(header, record + 4, entry + 16, entry + 20);
    header.writeUInt32BE(position, record + 8);
    header.writeUInt32BE(length, record + 12);
    const padding = Buffer.alloc((4 - (length % 4)) % 4);
    parts.push(table, padding);
    position += length + padding.length;
  }
  return Buffer.concat(parts);
}

async function copyLicense(name) {
  const files = ['LICENSE_FONT', 'LICENSE'].map((file) => join(packageFolder(name), file));
  const license = files.find((file) => existsSync(file));
  if (license === undefined) throw new Error(`${name} has no license file`);
  await replace(join('licenses', `${basename(name)}.txt`), await readFile(license));
}

/** Writes a file atomically, because two builds or test workers may run at the same time. Returns its name. */
async function replace(name, data) {
  const temporary = join(OUT, `${name}.${process.pid}.tmp`);
  await writeFile(temporary, data);
  await rename(temporary, join(OUT, name));
  return name;
}

function packageFolder(name) {
  return join(root, 'node_modules', name);
}

if (process.argv[1] === import.meta.filename) await prepareFonts();
