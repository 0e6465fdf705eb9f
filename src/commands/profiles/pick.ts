import { NoProfileError, UsageError } from '../../kernel/errors.ts';
import type { Terminal } from '../../output/terminal.ts';
import { padded, safeLine, widthOf } from '../../output/text.ts';
import type { Profiles } from '../../profiles/profile.ts';

/**
 * Asks the user to choose a stored profile, and returns its name.
 * @throws UsageError without a terminal.
 */
export async function pickProfile(store: Profiles, terminal: Terminal): Promise<string> {
  const profiles = Object.entries(store.profiles);
  if (profiles.length === 0) {
    throw new NoProfileError('No profiles yet.', {
      hint: 'Add one: `esign profiles add NAME --base-url URL`, or try `esign sandbox start`.',
    });
  }
  if (!terminal.canAsk) {
    throw new UsageError('Missing argument NAME: the profile to switch to.', {
      hint: `Profiles: ${profiles.map(([name]) => name).join(', ')}.`,
    });
  }
  const width = Math.max(...profiles.map(([name]) => widthOf(safeLine(name))));
  const choices = profiles.map(([name, { baseUrl }]) => ({
    value: name,
    name: `${padded(safeLine(name), width)}  ${safeLine(baseUrl)}${name === store.current ? '  (current)' : ''}`,
    short: safeLine(name),
  }));
  const { ask } = await import('../../cli/prompts/prompts.ts');
  return ask((conversation) => conversation.pick('Which profile?', choices, store.current));
}
