import { join } from 'node:path';
import { stateDir } from '../../../kernel/files/paths.ts';

/** Returns the folder with the records of replacements. */
export function replacementsFolder(): string {
  return join(stateDir(), 'replacements');
}
