// Writes the fonts of the sandbox's documents to one folder as plain TrueType, with a list of the characters that each one covers.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inflateSync } from 'node:zlib';

const require = createRequire(import.meta.url);

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

/**
 * Writes the fonts, their licenses, and `fonts.json` to `outDir`.
 * Does nothing if `fonts.json` already lists the same package versions.
 * @param {string} outDir
 * @returns {Promise<{ written: number, bytes: number }>}
 */
export async function prepareFonts(outDir) {
  const sources = await versions();
  if (await isCurrent(outDir, sources)) return { written: 0, bytes: 0 };
  await mkdir(join(outDir, 'licenses'), { recursive: true });
  const faces = [];
  for (const face of FACES) faces.push({ use: face.use, ...(await file(face, face.subset)) });
  const fallbacks = [];
  for (const font of FALLBACKS) fallbacks.push(...(await fallbackFiles(font)));
  for (const name of Object.keys(sources)) await copyLicense(name, outDir);

  const all = [...faces, ...fallbacks];
  for (const { name, data } of all) await replace(join(outDir, name), data);
  const list = {
    sources,
    faces: faces.map(({ use, name }) => ({ use, file: name })),
    fallbacks: fallbacks.map(({ name, ranges }) => ({ file: name, ranges })),
  };
  // Written last, because its presence shows that the folder is complete.
  await replace(join(outDir, 'fonts.json'), JSON.stringify(list));
  return { written: all.length, bytes: all.reduce((sum, { data }) => sum + data.length, 0) };
}

async function versions() {
  const result = {};
  for (const { package: name } of [...FACES, ...FALLBACKS]) {
    result[name] = JSON.parse(await readFile(join(root(name), 'package.json'), 'utf8')).version;
  }
  return result;
}

async function isCurrent(outDir, sources) {
  try {
    const list = JSON.parse(await readFile(join(outDir, 'fonts.json'), 'utf8'));
    return JSON.stringify(list.sources) === JSON.stringify(sources);
  } catch {
    return false;
  }
}

async function fallbackFiles(font) {
  const coverage = JSON.parse(await readFile(join(root(font.package), 'unicode.json'), 'utf8'));
  const slices = Object.entries(coverage).filter(([key]) => key.startsWith('['));
  if (!font.slices) {
    const ranges =
      font.ranges === 'union'
        ? slices.flatMap(([, text]) => rangesOf(text))
        : (font.ranges ?? rangesOf(coverage[font.subset]));
    return [{ ...(await file(font, font.subset)), ranges }];
  }
  const wanted = slices
    .map(([key, text]) => ({ slice: key.slice(1, -1), ranges: rangesOf(text).filter(touchesCjk) }))
    .filter(({ ranges }) => ranges.length > 0);
  return Promise.all(wanted.map(async ({ slice, ranges }) => ({ ...(await file(font, slice)), ranges })));
}

/** Returns one font file as TrueType. Fontsource names its files `<family>-<subset>-400-normal`. */
async function file(font, subset) {
  const family = font.package.split('/')[1];
  if (subset === undefined) {
    const data = await readFile(join(root(font.package), font.file));
    return { name: font.file.split('/').at(-1), data };
  }
  const woff = await readFile(join(root(font.package), 'files', `${family}-${subset}-400-normal.woff`));
  return { name: `${family}-${subset}.ttf`, data: fromWoff(woff) };
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

async function copyLicense(name, outDir) {
  const family = name.split('/')[1];
  for (const candidate of ['LICENSE_FONT', 'LICENSE']) {
    try {
      const text = await readFile(join(root(name), candidate));
      return await replace(join(outDir, 'licenses', `${family}.txt`), text);
    } catch (error) {
      if (error.code !== 'ENOENT') throw error;
    }
  }
  throw new Error(`${name} has no license file`);
}

/** Writes the file atomically, because two builds or test workers may run at the same time. */
async function replace(path, data) {
  const temporary = `${path}.${process.pid}.tmp`;
  await writeFile(temporary, data);
  await rename(temporary, path);
}

function root(name) {
  return dirname(require.resolve(`${name}/package.json`));
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const outDir = process.argv[2] ?? fileURLToPath(new URL('../dist/fonts', import.meta.url));
  const { written, bytes } = await prepareFonts(outDir);
  console.log(written === 0 ? 'fonts are up to date' : `${written} fonts, ${(bytes / 1e6).toFixed(1)} MB`);
}
