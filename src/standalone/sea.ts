import { getRawAsset } from 'node:sea';
import { start } from './main.ts';

/** Inside the executable: what it was built with. */
void start(
  {
    bytes,
    text: (name) => Buffer.from(bytes(name).buffer).toString('utf8'),
    has(name) {
      try {
        getRawAsset(name);
        return true;
      } catch {
        return false;
      }
    },
  },
  process.argv.slice(2),
);

function bytes(name: string): Uint8Array<ArrayBuffer> {
  const raw = getRawAsset(name);
  return typeof raw === 'string' ? new TextEncoder().encode(raw) : new Uint8Array(raw);
}
