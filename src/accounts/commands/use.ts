import { EsignCommand } from '../../cli/command.ts';
import { optionalArg } from '../../cli/flags.ts';
import { NoProfileError, UsageError } from '../../kernel/errors.ts';
import { configDir } from '../../kernel/files/paths.ts';
import type { Terminal } from '../../output/terminal.ts';
import { padded, safeLine, widthOf } from '../../output/text.ts';
import type { Profiles } from '../../settings/profile.ts';
import { profileNamed, readProfiles } from '../../settings/store.ts';
import { updateProfiles } from '../../settings/update-store.ts';
import { writeProfile } from './profile-text.ts';

export default class ProfilesUse extends EsignCommand {
  static override summary = 'Switch to a profile.';
  static override examples = [
    '<%= config.bin %> profiles use',
    '<%= config.bin %> profiles use acme',
    '<%= config.bin %> profiles use acme --json',
  ];
  static override args = {
    name: optionalArg('profile to switch to (default: choose from a list on a terminal)'),
  };

  async run(): Promise<void> {
    const { args, terminal } = await this.start(ProfilesUse, { profile: undefined });
    const name = args.name ?? (await pickProfile(readProfiles(configDir()), terminal));
    const store = await updateProfiles(configDir(), (profiles) => {
      profileNamed(profiles, name);
      profiles.current = name;
    });
    const shown = { name, current: true, profile: profileNamed(store, name) };
    await writeProfile(shown, terminal, () => `${safeLine(name)} is now the current profile.\n`);
  }
}

/**
 * Asks the user to choose a stored profile, and returns its name.
 * @throws UsageError without a terminal.
 */
async function pickProfile(store: Profiles, terminal: Terminal): Promise<string> {
  const profiles = Object.entries(store.profiles);
  if (profiles.length === 0) {
    throw new NoProfileError('No profiles yet.', {
      hint: 'Add one: `esign profiles add`, or try `esign sandbox start`.',
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
  const { askChoice } = await import('../../cli/input/prompts.ts');
  return askChoice('Which profile?', choices, store.current);
}
