import * as Args from '@oclif/core/args';
import { EsignCommand } from '../../cli/command.ts';
import { writeDryRun } from '../../cli/dry-run.ts';
import { dryRunFlag, fieldsFlag, formatFlags, optionalArg, quietFlag } from '../../cli/flags.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { counted } from '../../kernel/duration.ts';
import { isNotFound, ServiceError, UsageError } from '../../kernel/errors.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { writeJson } from '../../output/json.ts';
import { type ListView, writeIds, writeList } from '../../output/list.ts';
import { relativeTime } from '../../output/time.ts';
import type { SandboxControl, SandboxSnapshot as Snapshot } from '../../sandbox-control/control.ts';

export default class SandboxSnapshot extends EsignCommand {
  static override summary = "Save the sandbox's state as a snapshot, and restore it later.";
  static override description =
    "`save` stores envelopes, emails, keys, documents, and the clock, and replaces any snapshot with the same name. `load` restores it and discards everything since then. Snapshots are stored in the sandbox's folder and deleted with it.";
  static override examples = [
    '<%= config.bin %> sandbox snapshot save before',
    '<%= config.bin %> sandbox snapshot load before',
    '<%= config.bin %> sandbox snapshot list --json',
    '<%= config.bin %> sandbox snapshot remove before',
  ];
  static override args = {
    action: Args.string({
      description: 'action to perform',
      options: ['save', 'load', 'list', 'remove'],
      required: true,
      ignoreStdin: true,
    }),
    name: optionalArg('snapshot name'),
  };
  static override flags = {
    ...formatFlags,
    fields: fieldsFlag('name,createdAt'),
    quiet: quietFlag('names'),
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { args, flags, session, terminal } = await this.start(SandboxSnapshot);
    const { action, name } = args;
    if (action !== 'list' && name === undefined)
      throw new UsageError(`\`snapshot ${action}\` requires a snapshot name.`, {
        hint: `Example: \`${command('sandbox', 'snapshot', action, 'before')}\`. \`esign sandbox snapshot list\` lists them.`,
      });
    if (action === 'list' && name !== undefined)
      throw new UsageError("`snapshot list` doesn't take a name.", {
        hint: 'Remove the name.',
      });
    const sandbox = await session.sandbox();
    if (name === undefined)
      return writeList(await sandbox.snapshots(), snapshotList(Date.now()), flags, terminal);
    if (flags['dry-run']) {
      const isKnown = action === 'save' || (await sandbox.snapshots()).some((one) => one.name === name);
      if (!isKnown) throw notFound(name);
      return writeDryRun([name], action, terminal);
    }
    await found(name, () => act(action, name, { sandbox, quiet: flags.quiet }, terminal));
  }
}

async function act(
  action: string,
  name: string,
  { sandbox, quiet }: { sandbox: SandboxControl; quiet: boolean | undefined },
  terminal: CommandTerminal,
): Promise<void> {
  const { json } = terminal;
  if (action === 'remove') {
    await sandbox.removeSnapshot(name);
    if (quiet) return writeIds([name], terminal);
    return json ? writeJson({ name, removed: true }, terminal) : terminal.out(`Removed ${name}.\n`);
  }
  const isSave = action === 'save';
  const kept = await (isSave ? sandbox.saveSnapshot(name) : sandbox.restoreSnapshot(name));
  if (json) return writeJson(kept, terminal);
  if (quiet) return writeIds([name], terminal);
  const of = counted(kept.envelopes, 'envelope');
  await terminal.out(isSave ? `Saved as ${name}: ${of}.\n` : `Restored ${name}: ${of}.\n`);
}

/** Runs `work` for a snapshot. @throws ServiceError with the name of the snapshot if it doesn't exist. */
async function found(name: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw isNotFound(error) ? notFound(name) : error;
  }
}

function notFound(name: string): ServiceError {
  return new ServiceError('NOT_FOUND', `Snapshot ${name} not found`, {
    status: 404,
    hint: 'List them: `esign sandbox snapshot list`.',
  });
}

/** Returns the snapshots as a list. `now` is the machine's time, which snapshots use. */
function snapshotList(now: number): ListView<Snapshot> {
  return {
    id: (one) => one.name,
    empty: 'No snapshots yet. Save one with `esign sandbox snapshot save NAME`.',
    columns: [
      { key: 'name', fixed: true },
      { key: 'createdAt', header: 'KEPT', show: (one) => relativeTime(one.createdAt, now) },
      { key: 'envelopes' },
    ],
  };
}
