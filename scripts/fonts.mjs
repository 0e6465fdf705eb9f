// Copies the fonts of the sandbox's documents and pages, and their licenses, to dist/fonts.
import { cp, mkdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';

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
  for (const [name, file] of FONTS) {
    const folder = join(root, 'node_modules', name);
    await cp(join(folder, file), join(OUT, basename(file)));
    await cp(join(folder, 'LICENSE_FONT'), join(OUT, 'licenses', `${basename(name)}.txt`));
  }
}

if (process.argv[1] === import.meta.filename) await prepareFonts();
