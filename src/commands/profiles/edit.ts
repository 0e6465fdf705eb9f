import { EsignCommand } from '../../cli/command.ts';
import { booleanFlag, requiredArg } from '../../cli/flags.ts';
import { removeIndexesOf } from '../../envelope-index/index-file.ts';
import { configDir, stateDir } from '../../kernel/files/paths.ts';
import { applyChanges, putProfile } from '../../profiles/edit.ts';
import { removeKey, storeKey } from '../../profiles/key-storage.ts';
import { profileNamed, readProfiles } from '../../profiles/store.ts';
import { updateProfiles } from '../../profiles/update-store.ts';
import { checkKey } from './check-key.ts';
import { noticeKeyFallback, profileFlags, readProfileChanges } from './flags.ts';
import { renderProfile, writeProfile } from './view.ts';

export default class ProfilesEdit extends EsignCommand {
  static override summary = 'Edit a profile. Settings you leave out are unchanged.';
  static override examples = [
    '<%= config.bin %> profiles edit acme --bucket contracts --region eu-central-1',
    '<%= config.bin %> profiles edit acme --endpoint https://minio.example.com --access-key-id AKID',
    '<%= config.bin %> profiles edit acme --endpoint "" # removes the setting',
    '<%= config.bin %> profiles edit acme --keychain # moves the key into the system keychain',
    "<%= config.bin %> profiles edit acme --only-to '*@example.com' --max-emails 50 --confirm-name # guards",
    'cat new.key | <%= config.bin %> profiles edit acme --api-key-stdin',
  ];
  static override args = {
    name: requiredArg('profile to edit'),
  };
  static override flags = {
    ...profileFlags,
    verify: booleanFlag('check a new key or base URL with one GET request', { default: true, allowNo: true }),
  };

  async run(): Promise<void> {
    const { args, flags, context } = await this.start(ProfilesEdit, { profile: undefined });
    const folder = configDir();
    const before = profileNamed(readProfiles(folder), args.name);
    const changes = await readProfileChanges(flags, { needsKey: false }, context.terminal);
    const reached = changes.baseUrl ?? changes.apiKey ?? changes.apiKeyCommand;
    if (flags.verify && reached !== undefined) await checkKey(applyChanges(before, changes), context);
    const placed = await storeKey(changes, before, flags.keychain, context.interrupt.signal);
    noticeKeyFallback(placed, context.terminal);
    const after = applyChanges(before, placed.changes);
    const store = await updateProfiles(folder, (profiles) => {
      putProfile(profiles, args.name, applyChanges(profileNamed(profiles, args.name), placed.changes));
    }).catch(async (error: unknown) => {
      await removeKey(after, before);
      throw error;
    });
    if (after.index === false) await removeIndexesOf(stateDir(), args.name);
    if (!(await removeKey(before, after)))
      context.terminal.notice('The previous key is still in the keychain.');
    const shown = { name: args.name, current: store.current === args.name, profile: after };
    await writeProfile(shown, context.terminal, () => renderProfile(shown, context.terminal));
  }
}
