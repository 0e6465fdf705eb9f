import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureInstalled } from './ensure.js';

// Builds dist/, the fonts of the sandbox's documents, and the manifest; installs first what that needs.
const dist = join(import.meta.dirname, '../dist');
await ensureInstalled();
const began = new Date();
const { bundle, copyPages, helpPages, manifest } = await import('./bundle.js');
const { types } = await import('./types.js');
const { fontPackages, prepareFonts } = await import('./fonts.mjs');
const { packagesOf, writeNotices } = await import('./notices.js');
const { writeSbom } = await import('./sbom.js');
await prepareFonts(join(dist, 'fonts'));
const bundled = await bundle();
await copyPages();
// What is copied as it is: the viewer of PDFs and the fonts.
const packages = [...packagesOf(bundled), 'node_modules/pdfjs-dist', ...fontPackages];
await writeNotices(packages, bundled);
await writeSbom(packages);
await manifest();
await helpPages();
await types();
// What `npm run demo` and `npm test` look at: a source that was changed meanwhile is newer than the build.
await writeFile(join(dist, '.built'), '');
await utimes(join(dist, '.built'), began, began);
