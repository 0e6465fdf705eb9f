import type { ListView } from '../../output/print-list.ts';
import { combineGuards, guardsInWords } from '../../settings/guards/guards.ts';
import type { Profile } from '../../settings/profile.ts';
import type { PublicProfile } from './profile-json.ts';

export const profileList: ListView<PublicProfile> = {
  id: (one) => one.name,
  empty: 'No profiles yet. Add one with `esign profiles add`, or try the sandbox: `esign sandbox start`.',
  columns: [
    { key: 'name', fixed: true },
    { key: 'current', value: (one) => (one.current ? '*' : ''), fixed: true },
    { key: 'baseUrl', header: 'BASE URL' },
    { key: 'apiKey', header: 'KEY', value: (one) => one.apiKey ?? one.apiKeyIn ?? '', fixed: true },
    { key: 'bucket', value: (one) => one.storage?.bucket ?? '' },
    {
      key: 'guards',
      value: (one) => guardLabels(one.guards).join(', '),
      show: (one) => shortened(guardLabels(one.guards)),
    },
  ],
};

function guardLabels(guards: Profile['guards'] | null): string[] {
  const all = guardsInWords(combineGuards(guards ?? undefined, { state: 'none' }));
  return all.map(([label]) => label.toLowerCase());
}

/** Returns the first text and the number of others: `read-only +2`. */
function shortened([first = '', ...others]: readonly string[]): string {
  return others.length > 0 ? `${first} +${others.length}` : first;
}
