import * as Args from '@oclif/core/args';
import { EsignCommand } from '../../cli/command.ts';
import { configDir } from '../../kernel/files/paths.ts';
import { safeLine } from '../../output/text.ts';
import { profileNamed, readProfiles } from '../../profiles/store.ts';
import { updateProfiles } from '../../profiles/update-store.ts';
import { pickProfile } from './pick.ts';
import { writeProfile } from './view.ts';

export default class ProfilesUse extends EsignCommand {
  static override summary = 'Switch to a profile.';
  static override examples = [
    '<%= config.bin %> profiles use',
    '<%= config.bin %> profiles use acme',
    '<%= config.bin %> profiles use acme --json',
  ];
  static override args = {
    name: Args.string({
      description: 'profile to switch to (default: choose from a list on a terminal)',
      ignoreStdin: true,
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ProfilesUse);
    const context = this.context({ ...flags, profile: undefined });
    const name = args.name ?? (await pickProfile(readProfiles(configDir()), context.terminal));
    const store = await updateProfiles(configDir(), (profiles) => {
      profileNamed(profiles, name);
      profiles.current = name;
    });
    const shown = { name, current: true, profile: profileNamed(store, name) };
    await writeProfile(shown, context.terminal, () => `${safeLine(name)} is now the current profile.\n`);
  }
}
