import { removeIndexesOf } from '../../catalog/index/file-store.ts';
import { EsignCommand } from '../../cli/command.ts';
import { booleanFlag, requiredArg } from '../../cli/flags.ts';
import { UsageError } from '../../kernel/errors.ts';
import { configDir, stateDir } from '../../kernel/files/paths.ts';
import { command } from '../../kernel/text/shell-words.ts';
import type { Profile, Profiles } from '../../settings/profile.ts';
import { applyChanges, type ProfileChanges, putProfile } from '../../settings/profile-changes.ts';
import { profileNamed, readProfiles } from '../../settings/store.ts';
import { editFlags, profileFlags } from './profile-flags.ts';
import { renderProfile, renderSaved, writeProfile } from './profile-text.ts';
import { saveProfile } from './save-profile.ts';

export default class ProfilesEdit extends EsignCommand {
  static override summary = 'Edit a profile. Settings you leave out are unchanged.';
  static override description = 'An empty value removes a setting: --endpoint="".';
  static override examples = [
    '<%= config.bin %> profiles edit acme --bucket contracts --region eu-central-1',
    '<%= config.bin %> profiles edit acme --endpoint https://s3.example.com --access-key-id AK1',
    "<%= config.bin %> profiles edit acme --only-to '*@example.com' --max-emails 50",
    '<%= config.bin %> profiles edit acme --api-key-file -',
  ];
  static override args = {
    name: requiredArg('profile to edit'),
  };
  static override flags = {
    ...profileFlags,
    ...editFlags,
    verify: booleanFlag('check a new key or base URL with one GET request', { default: true, allowNo: true }),
  };

  async run(): Promise<void> {
    const { args, flags, context } = await this.start(ProfilesEdit, { profile: undefined });
    const before = profileNamed(readProfiles(configDir()), args.name);
    if (!Object.keys(flags).some((flag) => flag in profileFlags || flag in editFlags))
      throw new UsageError(`Nothing to change in profile ${args.name}.`, {
        hint: `To replace its API key, run \`${command('profiles', 'edit', args.name, '--api-key-file', '-')}\`. For other settings, see \`esign profiles edit --help\`.`,
      });
    // Another process may have changed the profile since.
    const put = (store: Profiles, _: Profile, changes: ProfileChanges) =>
      putProfile(store, args.name, applyChanges(profileNamed(store, args.name), changes));
    const saved = await saveProfile(args.name, flags, { before, put }, context);
    if (saved.profile.index === false) await removeIndexesOf(stateDir(), args.name);
    const { terminal } = context;
    await writeProfile(saved, terminal, () =>
      terminal.outIsTty ? renderSaved('Changed', saved, terminal) : renderProfile(saved, terminal),
    );
  }
}
