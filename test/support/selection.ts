import { filtersOf } from '../../src/cli/selection/flags.ts';
import type { Selection } from '../../src/envelopes/select.ts';

/** Conditions as the user types them. */
export interface Criteria extends Omit<Selection, 'words' | 'template'> {
  search?: string;
  template?: string;
}

export function selectionOf({ search, template, signer, ...others }: Criteria): Selection {
  const { words, template: folded, signer: part } = filtersOf({ search, template, signer });
  return { ...others, words, template: folded, signer: part };
}
