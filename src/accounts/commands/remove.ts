import { removeIndexesOf } from '../../catalog/index/file-store.ts';
import { EsignCommand } from '../../cli/command.ts';
import { writeDryRun } from '../../cli/dry-run.ts';
import { dryRunFlag, requiredArg, yesFlag } from '../../cli/flags.ts';
import { requireConfirmation } from '../../cli/input/confirm.ts';
import { configDir, stateDir } from '../../kernel/files/paths.ts';
import { removeProfile } from '../../settings/profile-changes.ts';
import { profileNamed, readProfiles } from '../../settings/store.ts';
import { updateProfiles } from '../../settings/update-store.ts';
import { writeProfile } from './profile-text.ts';

export default class ProfilesRemove extends EsignCommand {
  static override summary = 'Remove a profile and its stored key.';
  static override examples = [
    '<%= config.bin %> profiles remove acme',
    '<%= config.bin %> profiles remove acme --yes',
    '<%= config.bin %> profiles remove sandbox --json',
  ];
  static override args = {
    name: requiredArg('profile to remove'),
  };
  static override flags = { yes: yesFlag, 'dry-run': dryRunFlag };

  async run(): Promise<void> {
    const { args, flags, context } = await this.start(ProfilesRemove, { profile: undefined });
    const profile = profileNamed(readProfiles(configDir()), args.name);
    if (flags['dry-run']) return writeDryRun([args.name], 'remove', context.terminal);
    await requireConfirmation(
      `Remove ${args.name} and its key?`,
      { yes: flags.yes, otherwise: 'nothing was removed' },
      context,
    );
    const store = await updateProfiles(configDir(), (profiles) => removeProfile(profiles, args.name));
    await removeIndexesOf(stateDir(), args.name);
    const next = store.current === undefined ? ' Choose a different one with `esign profiles use NAME`.' : '';
    await writeProfile(
      { name: args.name, current: false, profile },
      context.terminal,
      () => `Removed ${args.name}.${next}\n`,
    );
  }
}
