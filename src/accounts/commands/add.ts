import { EsignCommand } from '../../cli/command.ts';
import { booleanFlag, optionalArg } from '../../cli/flags.ts';
import { configDir } from '../../kernel/files/paths.ts';
import type { Profile, Profiles } from '../../settings/profile.ts';
import { addProfile, applyChanges } from '../../settings/profile-changes.ts';
import { readProfiles } from '../../settings/store.ts';
import { askForAccount } from './ask-for-account.ts';
import { profileFlags } from './profile-flags.ts';
import { renderFirstSteps, renderProfile, renderSaved, writeProfile } from './profile-text.ts';
import { saveProfile } from './save-profile.ts';

export default class ProfilesAdd extends EsignCommand {
  static override summary = 'Add a profile: an API key and its base URL.';
  static override description =
    'On a terminal, you are prompted for the name, the base URL, and the key. The key can also be read from a file, stdin, or ESIGN_API_KEY, or be printed by a command that runs each time. It is checked with one GET request. The first profile becomes the current one.';
  static override examples = [
    '<%= config.bin %> profiles add',
    '<%= config.bin %> profiles add acme --base-url https://api.example.com/api/v1',
    'pass show esign | <%= config.bin %> profiles add acme --base-url https://api.example.com/api/v1 --api-key-file -',
    '<%= config.bin %> profiles add acme --base-url https://api.example.com/api/v1 --api-key-command "op read op://team/esign/key"',
    '<%= config.bin %> profiles add acme --base-url https://api.example.com/api/v1 --bucket contracts --region eu-central-1',
  ];
  static override args = {
    name: optionalArg('profile name (on a terminal, you are prompted for it)'),
  };
  static override flags = {
    ...profileFlags,
    verify: booleanFlag('check the key with one GET request', { default: true, allowNo: true }),
  };

  async run(): Promise<void> {
    const { args, flags, context } = await this.start(ProfilesAdd, { profile: undefined });
    const { terminal } = context;
    const { 'base-url': given, 'insecure-http': insecureHttp } = flags;
    const store = readProfiles(configDir());
    const { name, baseUrl } = await askForAccount(
      { name: args.name, baseUrl: given, insecureHttp },
      store,
      terminal,
    );
    // Before the key is read, fails if the name is taken or the base URL is invalid.
    addProfile(store, name, applyChanges(undefined, { baseUrl, insecureHttp }));
    const put = (profiles: Profiles, profile: Profile) => addProfile(profiles, name, profile);
    const saved = await saveProfile(name, { ...flags, 'base-url': baseUrl }, { put }, context);
    await writeProfile(saved, terminal, () =>
      terminal.outIsTty
        ? `${renderSaved('Added', saved, terminal)}${renderFirstSteps(saved, terminal)}`
        : renderProfile(saved, terminal),
    );
  }
}
