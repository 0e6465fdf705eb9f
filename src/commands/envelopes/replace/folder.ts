import { join } from 'node:path';
import { stateDir } from '../../../kernel/files/paths.ts';

/** Where it is remembered what was replaced by what. */
export function replacementsFolder(): string {
  return join(stateDir(), 'replacements');
}
