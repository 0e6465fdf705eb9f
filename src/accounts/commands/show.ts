import { EsignCommand } from '../../cli/command.ts';
import { optionalArg } from '../../cli/flags.ts';
import { UsageError } from '../../kernel/errors.ts';
import { configDir } from '../../kernel/files/paths.ts';
import { writeJson } from '../../output/json.ts';
import { noProfileError } from '../../settings/resolve.ts';
import { storePath } from '../../settings/store.ts';
import { publicSettings } from './profile-json.ts';
import { renderSettings } from './profile-text.ts';

export default class ProfilesShow extends EsignCommand {
  static override summary = 'Show the settings in use, and where each value comes from.';
  static override examples = [
    '<%= config.bin %> profiles show',
    '<%= config.bin %> profiles show acme',
    '<%= config.bin %> profiles show --json',
  ];
  static override args = {
    name: optionalArg('profile (default: the current one)'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ProfilesShow);
    if (args.name !== undefined && flags.profile !== undefined)
      throw new UsageError('Specify the profile only once, with NAME or --profile.', {
        hint: 'Remove one of them.',
      });
    const context = this.context({ ...flags, profile: args.name ?? flags.profile });
    const { session } = context;
    const { baseUrl, apiKey } = await session.settings();
    if (baseUrl === undefined && apiKey === undefined) throw noProfileError();
    const { guardsOf } = await import('../../cli/session/command-gate.ts');
    const guards = await guardsOf(await session.settings(), session);
    const settings = publicSettings(await session.settings(), guards, storePath(configDir()));
    if (context.terminal.json) return writeJson(settings, context.terminal);
    await context.terminal.out(renderSettings(settings, context.terminal));
  }
}
