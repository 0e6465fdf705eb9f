import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Returns the text of a file in `contract/`, from the nearest folder above this module that contains it, so that it works in the bundle and
 * from source. Returns null if the file doesn't exist.
 */
export async function readContract(
  name: 'openapi.yaml' | 'sandbox-openapi.yaml',
  from: string = fileURLToPath(import.meta.url),
): Promise<string | null> {
  for (let folder = dirname(from); ; folder = dirname(folder)) {
    const path = join(folder, 'contract', name);
    if (existsSync(path)) return readFile(path, 'utf8');
    if (folder === dirname(folder)) return null;
  }
}
