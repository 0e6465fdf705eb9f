import { EsignCommand } from '../../cli/command.ts';
import { quietFlag } from '../../cli/flags.ts';
import { configDir } from '../../kernel/files/paths.ts';
import { writeList } from '../../output/print-list.ts';
import { readProfiles } from '../../settings/store.ts';
import { publicProfile } from './profile-json.ts';
import { profileList } from './profile-table.ts';

export default class ProfilesList extends EsignCommand {
  static override summary = 'List profiles, with masked keys.';
  static override examples = [
    '<%= config.bin %> profiles list',
    '<%= config.bin %> profiles list --json',
    '<%= config.bin %> profiles list -q',
  ];
  static override flags = { quiet: quietFlag('names') };

  async run(): Promise<void> {
    const { flags, terminal } = await this.start(ProfilesList);
    const store = readProfiles(configDir());
    const profiles = Object.entries(store.profiles).map(([name, profile]) =>
      publicProfile({ name, current: store.current === name, profile }),
    );
    await writeList(profiles, profileList, flags, terminal);
  }
}
