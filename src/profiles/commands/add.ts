import { EsignCommand } from '../../cli/command.ts';
import { booleanFlag, requiredArg } from '../../cli/flags.ts';
import { configDir } from '../../kernel/files/paths.ts';
import { addProfile, applyChanges, checkName } from '../edit.ts';
import type { Profile, Profiles } from '../profile.ts';
import { readProfiles } from '../store.ts';
import { profileFlags } from './profile-flags.ts';
import { renderProfile, writeProfile } from './profile-text.ts';
import { saveProfile } from './save-profile.ts';

export default class ProfilesAdd extends EsignCommand {
  static override summary = 'Add a profile: an API key and its base URL.';
  static override description =
    'The key is read from a hidden prompt, a file, stdin, or ESIGN_API_KEY, or printed by a command that runs each time. It is checked with one GET request. The first profile becomes the current one.';
  static override examples = [
    '<%= config.bin %> profiles add acme --base-url https://api.example.com/api/v1',
    'pass show esign | <%= config.bin %> profiles add acme --base-url https://api.example.com/api/v1 --api-key-file -',
    '<%= config.bin %> profiles add acme --base-url https://api.example.com/api/v1 --api-key-command "op read op://team/esign/key"',
    '<%= config.bin %> profiles add acme --base-url https://api.example.com/api/v1 --bucket contracts --region eu-central-1',
  ];
  static override args = {
    name: requiredArg('profile name'),
  };
  static override flags = {
    ...profileFlags,
    verify: booleanFlag('check the key with one GET request', { default: true, allowNo: true }),
  };

  async run(): Promise<void> {
    const { args, flags, context } = await this.start(ProfilesAdd, { profile: undefined });
    checkName(args.name);
    // Before any question, fails if the name is taken or the store can't be read.
    addProfile(
      readProfiles(configDir()),
      args.name,
      applyChanges(undefined, { baseUrl: flags['base-url'], insecureHttp: flags['insecure-http'] }),
    );
    const put = (store: Profiles, profile: Profile) => addProfile(store, args.name, profile);
    const saved = await saveProfile(args.name, flags, { put }, context);
    await writeProfile(saved, context.terminal, () => renderProfile(saved, context.terminal));
  }
}
