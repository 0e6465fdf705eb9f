import { join } from 'node:path';
import { ensureInstalled } from './ensure.js';

// Builds dist/, the fonts of the sandbox's papers, and the manifest; installs first what that needs.
await ensureInstalled();
const { bundle, copyPages, helpPages, manifest } = await import('./bundle.js');
const { types } = await import('./types.js');
const { prepareFonts } = await import('./fonts.mjs');
await prepareFonts(join(import.meta.dirname, '../dist/fonts'));
await bundle();
await copyPages();
await manifest();
await helpPages();
await types();
