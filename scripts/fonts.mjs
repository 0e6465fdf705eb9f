// Writes the fonts of the sandbox's documents and pages, and their licenses, to dist/fonts.
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(import.meta.dirname, '..');
const OUT = join(root, 'dist/fonts');

const FONTS = [
  ['@expo-google-fonts/noto-sans', '400Regular/NotoSans_400Regular.ttf'],
  ['@expo-google-fonts/noto-sans', '600SemiBold/NotoSans_600SemiBold.ttf'],
  ['@expo-google-fonts/caveat', '500Medium/Caveat_500Medium.ttf'],
];

/** The folders of the font packages. */
export const fontPackages = [...new Set(FONTS.map(([name]) => `node_modules/${name}`))];

export async function prepareFonts() {
  await rm(OUT, { recursive: true, force: true });
  await mkdir(join(OUT, 'licenses'), { recursive: true });
  const reduce = await loadReducer();
  for (const [name, file] of FONTS) {
    const folder = join(root, 'node_modules', name);
    await writeFile(join(OUT, basename(file)), reduce(await readFile(join(folder, file))));
    await cp(join(folder, 'LICENSE_FONT'), join(OUT, 'licenses', `${basename(name)}.txt`));
  }
}

/** The tables for kerning, ligatures, and variable styles. */
const LAYOUT = ['GDEF', 'GPOS', 'GSUB', 'STAT'];
/** HarfBuzz's constants (hb-subset.h, hb-blob.h). */
const MEMORY_MODE_READONLY = 1;
const SETS_DROP_TABLE_TAG = 3;
const FLAGS_NOTDEF_OUTLINE = 0x40;

/**
 * Returns a function that reduces a font to half its size: to the glyphs of its characters, and the box for all others. Documents are
 * drawn without kerning and ligatures.
 */
async function loadReducer() {
  const wasm = fileURLToPath(import.meta.resolve('harfbuzzjs/dist/harfbuzz-subset.wasm'));
  const { instance } = await WebAssembly.instantiate(await readFile(wasm));
  const hb = instance.exports;
  hb._initialize();
  return (font) => {
    const address = hb.malloc(font.length);
    new Uint8Array(hb.memory.buffer).set(font, address);
    const face = hb.hb_face_create(hb.hb_blob_create(address, font.length, MEMORY_MODE_READONLY, 0, 0), 0);
    const input = hb.hb_subset_input_create_or_fail();
    hb.hb_subset_input_set_flags(input, FLAGS_NOTDEF_OUTLINE);
    const dropped = hb.hb_subset_input_set(input, SETS_DROP_TABLE_TAG);
    for (const table of LAYOUT) hb.hb_set_add(dropped, Buffer.from(table).readUInt32BE());
    // The complement of no characters: all of them.
    const characters = hb.hb_subset_input_unicode_set(input);
    hb.hb_set_clear(characters);
    hb.hb_set_invert(characters);
    const subset = hb.hb_subset_or_fail(face, input);
    if (subset === 0) throw new Error('A font could not be reduced.');
    const blob = hb.hb_face_reference_blob(subset);
    const [start, length] = [hb.hb_blob_get_data(blob, 0), hb.hb_blob_get_length(blob)];
    return Buffer.from(new Uint8Array(hb.memory.buffer, start, length));
  };
}

if (process.argv[1] === import.meta.filename) await prepareFonts();
