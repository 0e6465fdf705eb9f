import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureInstalled } from './ensure.js';

// Installs the packages if necessary, then builds dist/, the fonts of the sandbox's documents, and the manifest.
const dist = join(import.meta.dirname, '../dist');
await ensureInstalled();
const began = new Date();
const { bundle, copyPages, helpPages, manifest } = await import('./bundle.js');
const { types } = await import('./types.js');
const { fontPackages, prepareFonts } = await import('./fonts.mjs');
const { packagesOf, writeNotices } = await import('./notices.js');
const { writeSbom } = await import('./sbom.js');
await prepareFonts();
const bundled = await bundle();
await copyPages();
// The bundler doesn't know the PDF viewer and the fonts.
const packages = [...packagesOf(bundled), 'node_modules/pdfjs-dist', ...fontPackages];
await writeNotices(packages, bundled);
await writeSbom(packages);
await manifest();
await helpPages();
await types();
// `npm run demo` and `npm test` compare this time with the sources. A source that was changed during the build is newer.
await writeFile(join(dist, '.built'), '');
await utimes(join(dist, '.built'), began, began);
