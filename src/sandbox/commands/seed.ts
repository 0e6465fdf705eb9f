import type { SeedResponse } from '../../api/sandbox-control.ts';
import { EsignCommand } from '../../cli/command.ts';
import { requiredArg } from '../../cli/flags.ts';
import type { Context } from '../../cli/session/context.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { counted, listed } from '../../kernel/duration.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { maskKey } from '../../kernel/redaction.ts';
import { writeJson } from '../../output/json.ts';
import { safeLine } from '../../output/text.ts';
import { readSeedFile } from './seed-file.ts';

export default class SandboxSeedCommand extends EsignCommand {
  static override summary = 'Load templates, keys, and envelopes into the sandbox from a file.';
  static override description =
    'The file is YAML or JSON with the lists `templates` (id, name, roles, active), `keys` (organisation, scopes, expiresAt), and `envelopes` (id, template, status, subject, metadata, createdAt, signers); all fields except id and name are optional. Existing items with the same ID are replaced. Envelopes can have any status. If the file has an error, its field is shown and nothing is loaded.';
  static override examples = [
    '<%= config.bin %> sandbox seed seed.yaml',
    '<%= config.bin %> sandbox seed seed.json --json',
    'echo "envelopes: [{id: env_1, status: COMPLETED}]" | <%= config.bin %> sandbox seed -',
  ];
  static override args = {
    file: requiredArg('YAML or JSON file, or `-` for stdin'),
  };

  async run(): Promise<void> {
    const { args, context } = await this.start(SandboxSeedCommand);
    await seedSandbox(args.file, context);
  }
}

/**
 * Loads a seed file into the running sandbox.
 * @throws UsageError with the field of each error.
 */
async function seedSandbox(path: string, context: Context): Promise<void> {
  const { seed, mistakes } = await readSeedFile(path, context.terminal);
  const sandbox = await context.session.sandbox();
  try {
    const result = await sandbox.seed(seed);
    await showResult(result, context.terminal);
  } catch (error) {
    throw error instanceof ServiceError && error.details ? mistakes(error.details) : error;
  }
}

async function showResult(result: SeedResponse, terminal: CommandTerminal): Promise<void> {
  if (terminal.json) return writeJson(result, terminal);
  await terminal.out(inWords(result));
}

function inWords({ templates, envelopes, keys }: SeedResponse): string {
  const parts = [counted(templates, 'template'), counted(keys.length, 'key'), counted(envelopes, 'envelope')];
  const shown = keys.map(({ key, organisation }) => `  ${maskKey(key)}  ${safeLine(organisation)}\n`);
  const hint = keys.length === 0 ? '' : `Keys (in full with --json):\n${shown.join('')}`;
  return `Loaded: ${listed(parts)}.\n${hint}`;
}
