import type { Context } from '../../../cli/context.ts';
import { counted } from '../../../kernel/duration.ts';
import { isNotFound, ServiceError, UsageError } from '../../../kernel/errors.ts';
import { command } from '../../../kernel/text/shell-words.ts';
import { writeJson } from '../../../output/json.ts';
import { type ListFormat, type ListView, writeIds, writeList } from '../../../output/list.ts';
import { relativeTime } from '../../../output/time.ts';
import type { SandboxControl, SandboxSnapshot } from '../../../sandbox-control/control.ts';

export const SNAPSHOT_ACTIONS = ['save', 'load', 'list', 'remove'] as const;

/** Keeps the state of the sandbox, goes back to it, lists or removes what was kept. */
export async function runSnapshot(
  { action, name }: { action: string; name?: string | undefined },
  format: ListFormat,
  context: Context,
): Promise<void> {
  if (action !== 'list' && name === undefined)
    throw new UsageError(`\`snapshot ${action}\` needs the name of a snapshot.`, {
      hint: `Give one: \`${command('sandbox', 'snapshot', action, 'before')}\`; \`esign sandbox snapshot list\` shows them.`,
    });
  if (action === 'list' && name !== undefined)
    throw new UsageError('`snapshot list` takes no name: it lists all of them.', {
      hint: 'Leave out the name.',
    });
  const sandbox = await context.session.sandbox();
  if (name === undefined)
    return writeList(
      await sandbox.snapshots(context.interrupt.signal),
      snapshotList(Date.now()),
      format,
      context.terminal,
    );
  await found(name, () => act(action, name, { sandbox, quiet: format.quiet }, context));
}

async function act(
  action: string,
  name: string,
  { sandbox, quiet }: { sandbox: SandboxControl; quiet: boolean | undefined },
  context: Context,
): Promise<void> {
  const { terminal } = context;
  const { json } = terminal;
  const { signal } = context.interrupt;
  if (action === 'remove') {
    await sandbox.removeSnapshot(name, signal);
    if (quiet) return writeIds([name], terminal);
    return json ? writeJson({ name, removed: true }, terminal) : terminal.out(`Removed ${name}.\n`);
  }
  const isSave = action === 'save';
  const kept = await (isSave ? sandbox.saveSnapshot(name, signal) : sandbox.restoreSnapshot(name, signal));
  if (json) return writeJson(kept, terminal);
  if (quiet) return writeIds([name], terminal);
  const of = counted(kept.envelopes, 'envelope');
  await terminal.out(isSave ? `Kept as ${name}: ${of}.\n` : `Back at ${name}: ${of}.\n`);
}

/** @throws ServiceError that names the snapshot, when there is none. */
async function found(name: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new ServiceError(error.code, `There is no snapshot ${name}`, {
      status: error.status,
      hint: 'List them: `esign sandbox snapshot list`.',
    });
  }
}

/** `now` is the machine's time: snapshots are no part of the sandbox's. */
function snapshotList(now: number): ListView<SandboxSnapshot> {
  return {
    id: (one) => one.name,
    empty: 'Nothing is kept. `esign sandbox snapshot save NAME` does.',
    columns: [
      { key: 'name', header: 'NAME', value: (one) => one.name, fixed: true },
      {
        key: 'createdAt',
        header: 'KEPT',
        value: (one) => one.createdAt,
        show: (one) => relativeTime(one.createdAt, now),
      },
      { key: 'envelopes', header: 'ENVELOPES', value: (one) => String(one.envelopes) },
    ],
  };
}
