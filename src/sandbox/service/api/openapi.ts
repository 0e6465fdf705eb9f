import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The text of a file of `contract/`, from the nearest folder above this module that has it: the same in the bundle
 * and from source. Null when the file isn't there.
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
