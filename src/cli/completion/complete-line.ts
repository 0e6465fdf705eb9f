import { configDir, stateDir } from '../../kernel/files/paths.ts';
import { safeLine } from '../../output/text.ts';
import type { Profiles } from '../../settings/profile.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import { readProfiles } from '../../settings/store.ts';
import { indexScopeOf } from '../session/seen-data.ts';
import { cacheFile, readRecent } from './cache.ts';
import { readCommandTree } from './command-tree.ts';
import { type CompletionCandidate, type CompletionSources, complete } from './complete.ts';
import type { CompletionLine } from './line.ts';
import { candidateLines, parseTypedWords, SHELLS } from './shells.ts';

/**
 * Runs `esign __complete SHELL =CURRENT WORD…`, which the completion scripts call at each Tab. It reads only small
 * local files and never uses the network. If anything fails, it prints nothing and completes nothing.
 */
export function main(argv: readonly string[], root: string): void {
  process.stdout.on('error', () => undefined);
  try {
    const [name, ...handed] = argv;
    const shell = SHELLS.find((known) => known === name);
    if (shell === undefined) return;
    const typed = parseTypedWords(shell, handed);
    const lookup = lookupIn(readableStore());
    const completion = complete(readCommandTree(root), typed.words, typed.current, lookup);
    process.stdout.write(`${candidateLines(shell, completion, typed, safeLine).join('\n')}\n`);
  } catch {
    // No completion is better than an error at each Tab.
  }
}

function readableStore(): Profiles | undefined {
  try {
    return readProfiles(configDir());
  } catch {
    return undefined;
  }
}

function lookupIn(store: Profiles | undefined): CompletionSources {
  return {
    profiles: () =>
      Object.entries(store?.profiles ?? {}).map(
        ([value, { baseUrl }]): CompletionCandidate => ({ value, description: baseUrl }),
      ),
    recent: (kind, line) => {
      const scope = store && indexScopeOf(settingsOf(line, store));
      return scope ? readRecent(cacheFile(stateDir(), scope), kind, Date.now()) : [];
    },
  };
}

/** Returns the settings that the command would have, as far as its line has been typed. */
function settingsOf(line: CompletionLine, store: Profiles) {
  return resolveSettings({
    flags: {
      profile: line.flags.get('profile') || undefined,
      baseUrl: line.flags.get('base-url') || undefined,
    },
    env: process.env,
    store,
    fallbackProfile: line.path.startsWith('sandbox:') ? 'sandbox' : undefined,
  });
}
