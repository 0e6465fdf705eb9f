import { EsignCommand } from '../../cli/command.ts';
import type { Context } from '../../cli/context.ts';
import { booleanFlag, optionalArg, textFlag } from '../../cli/flags.ts';
import { writeNewFile } from '../../cli/new-file.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { counted, listed } from '../../kernel/duration.ts';
import { ServiceError, UsageError } from '../../kernel/errors.ts';
import { maskKey } from '../../kernel/redaction.ts';
import { writeJson } from '../../output/json.ts';
import { safeLine } from '../../output/text.ts';
import type { SeedResponse } from '../../sandbox-control/control.ts';
import { standInsOf } from './like.ts';
import { readSeedFile } from './seed-file.ts';

export default class SandboxSeed extends EsignCommand {
  static override summary =
    'Load templates, organizations, keys, and envelopes into the sandbox from a file.';
  static override description =
    "The file is YAML or JSON; see docs/testing.md for its format. Existing items with the same ID are replaced. Envelopes can have any status. If the file has an error, its line and field are shown and nothing is loaded. With --from, loads stand-ins for an account's templates: the same names, roles, and fields, on pages marked STAND-IN. No envelopes or signer data are copied.";
  static override examples = [
    '<%= config.bin %> sandbox seed seed.yaml',
    '<%= config.bin %> sandbox seed seed.json --json',
    '<%= config.bin %> sandbox seed --from production --out templates.json',
    'echo "envelopes: [{id: env_1, status: COMPLETED}]" | <%= config.bin %> sandbox seed -',
  ];
  static override args = {
    file: optionalArg('YAML or JSON file, or `-` for stdin'),
  };
  static override flags = {
    from: textFlag(
      'PROFILE',
      "load stand-ins for the active templates of this profile's account (read-only)",
    ),
    out: textFlag('FILE', 'write the stand-ins to a seed file instead; `-` for stdout', {
      dependsOn: ['from'],
    }),
    force: booleanFlag('replace an existing FILE', { dependsOn: ['out'] }),
  };

  async run(): Promise<void> {
    const { args, flags, context } = await this.start(SandboxSeed);
    const { file } = args;
    const { from } = flags;
    if (file !== undefined && from === undefined) return seedSandbox(file, context);
    if (from !== undefined && file === undefined) return seedStandIns(from, flags, context);
    throw new UsageError(
      file === undefined
        ? 'Specify a seed file or a profile.'
        : "A seed file and --from can't be used together.",
      {
        hint: 'Load a file: `esign sandbox seed FILE`. Copy templates: `esign sandbox seed --from PROFILE`.',
      },
    );
  }
}

/** Adds stand-ins for a profile's templates to the running sandbox, or writes them to a seed file. */
async function seedStandIns(
  profile: string,
  { out, force = false }: { out?: string | undefined; force?: boolean },
  context: Context,
): Promise<void> {
  const { terminal } = context;
  const templates = await standInsOf(profile, context);
  if (out === undefined) {
    const sandbox = await context.session.sandbox();
    return showResult(await sandbox.seed({ templates }), terminal);
  }
  await writeNewFile(out, `${JSON.stringify({ templates }, null, 2)}\n`, force, terminal);
  if (out === '-') return;
  if (terminal.json) await writeJson({ file: out, templates: templates.length }, terminal);
  else terminal.notice(`${counted(templates.length, 'template')} written to ${out}.`);
}

/**
 * Loads a seed file into the running sandbox.
 * @throws UsageError with the line and field of each error.
 */
async function seedSandbox(path: string, context: Context): Promise<void> {
  const { seed, pdfs, mistakes } = await readSeedFile(path, context.terminal);
  const templates = seed.templates?.map((one) => {
    const pdf = pdfs.get(one.id);
    return pdf === undefined ? one : { ...one, pdf: Buffer.from(pdf).toString('base64') };
  });
  const sandbox = await context.session.sandbox();
  try {
    const result = await sandbox.seed({ ...seed, ...(templates ? { templates } : {}) });
    await showResult(result, context.terminal);
  } catch (error) {
    throw error instanceof ServiceError && error.details ? mistakes(error.details) : error;
  }
}

async function showResult(result: SeedResponse, terminal: CommandTerminal): Promise<void> {
  if (terminal.json) return writeJson(result, terminal);
  await terminal.out(inWords(result));
}

function inWords({ templates, organisations, envelopes, keys }: SeedResponse): string {
  const parts = [
    counted(templates, 'template'),
    counted(organisations, 'organization'),
    counted(keys.length, 'key'),
    counted(envelopes, 'envelope'),
  ];
  const shown = keys.map(({ key, organisation }) => `  ${maskKey(key)}  ${safeLine(organisation)}\n`);
  const hint = keys.length === 0 ? '' : `Keys (in full with --json):\n${shown.join('')}`;
  return `Loaded: ${listed(parts)}.\n${hint}`;
}
