import { createRequire } from 'node:module';
import { join } from 'node:path';
import { getRawAsset } from 'node:sea';
import { isRecord, parseJson } from '../kernel/json.ts';
import { unpacked } from './files.ts';

/*
 * The executable's own beginning. Node loads modules, threads and WebAssembly from files alone, so the package is
 * unpacked by the first run and started like one that npm installed.
 */
function bytes(name: string): Uint8Array {
  const raw = getRawAsset(name);
  return typeof raw === 'string' ? new TextEncoder().encode(raw) : new Uint8Array(raw);
}

/** The list of contents that scripts/standalone.js writes. */
const contents = parseJson(Buffer.from(bytes('contents.json')).toString('utf8'));
const { id, files } = isRecord(contents) ? contents : {};
if (typeof id !== 'string' || !Array.isArray(files)) throw new Error('the executable is damaged');
const names = files.filter((name) => typeof name === 'string');
createRequire(join(unpacked(id, names, bytes), 'bin/run.js'))('./run.js');
