import * as Args from '@oclif/core/args';
import { EsignCommand } from '../../cli/command.ts';
import { configDir } from '../../kernel/paths.ts';
import { writeProfile } from '../../output/profile-view.ts';
import { profileNamed, updateProfiles } from '../../profiles/store.ts';

export default class ProfilesUse extends EsignCommand {
  static override summary = 'Make a profile the current one.';
  static override examples = [
    '<%= config.bin %> profiles use acme',
    '<%= config.bin %> profiles use sandbox',
    '<%= config.bin %> profiles use acme --json',
  ];
  static override args = {
    name: Args.string({ description: 'profile to use from now on', required: true, ignoreStdin: true }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ProfilesUse);
    const around = this.surroundings({ ...flags, profile: undefined });
    const store = await updateProfiles(configDir(), (profiles) => {
      profileNamed(profiles, args.name);
      profiles.current = args.name;
    });
    const shown = { name: args.name, current: true, profile: profileNamed(store, args.name) };
    await writeProfile(shown, around, () => `${args.name} is now the current profile.\n`);
  }
}
