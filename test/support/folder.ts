import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeAtEnd } from './opened.ts';

/** Creates a folder that is deleted at the end of the test file. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'esign-test-'));
  closeAtEnd({ close: () => rmSync(folder, { recursive: true, force: true }) });
  return folder;
}
