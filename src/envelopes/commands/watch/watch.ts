import { RESERVE } from '../../../api/rate-window.ts';
import { EsignCommand } from '../../../cli/command.ts';
import { durationFlag, statusesFlag, textFlag } from '../../../cli/flags.ts';
import type { Context } from '../../../cli/session/context.ts';
import { counted, durationInWords, durationText } from '../../../kernel/duration.ts';
import { sentenceOf } from '../../../kernel/errors.ts';
import { eventsDir } from '../../../kernel/files/paths.ts';
import { preferLowMemory } from '../../../kernel/process/v8-flags.ts';
import { idsOrRun, runFlag } from '../../../selection/selection-flags.ts';
import { followEvents } from '../../../webhooks/journal/event-journal.ts';
import { notToWatch } from '../../left-out.ts';
import { WATCH_PACE } from '../../watch/poll-pace.ts';
import { type WatchEvent, type WatchOptions, watchEnvelopes } from '../../watch/watch-envelopes.ts';
import { readNamedOrSelected } from '../actions/named-or-selected.ts';
import { continueHint, deadlineAfter } from './watch-deadline.ts';
import { openDisplay, type WatchDisplay } from './watch-display.ts';
import { WatchSession } from './watch-session.ts';

export default class EnvelopesWatch extends EsignCommand {
  static override summary = 'Watch envelopes until they are completed or end in another status.';
  static override description =
    'Prints a line for each change. Exits with 0 when every envelope has reached one of the --until statuses, 11 when one ended in another status, and 124 after --timeout. Keeps waiting during outages.';
  static override examples = [
    '<%= config.bin %> envelopes watch env_123',
    '<%= config.bin %> envelopes watch env_123 --until IN_PROGRESS,COMPLETED --timeout 2h',
    '<%= config.bin %> envelopes watch --run last --timeout 8h',
    '<%= config.bin %> envelopes watch env_123 --json | jq -r "[.at, .to] | @tsv"',
  ];
  static override strict = false;
  static override args = idsOrRun;
  static override flags = {
    until: statusesFlag({ description: 'statuses to wait for (default COMPLETED)', helpValue: 'A,B' }),
    ...runFlag,
    exec: textFlag(
      'CMD',
      'command to run when an envelope reaches one of the --until statuses; it gets the change as JSON on stdin',
    ),
    // Unlike the global flag, this is the maximum wait, not the timeout of a request.
    timeout: durationFlag('2h', 'give up after this long and exit with code 124', 1),
    interval: durationFlag(
      '5s',
      `polling interval (default ${durationText(WATCH_PACE.intervalMs)}, up to ${durationText(WATCH_PACE.quietMs)} while nothing changes)`,
      200,
    ),
  };

  /**
   * @throws UnexpectedStatusError if one ended in another status, WaitTimeoutError after --timeout, the service's error if none of
   * them exists, PartialError if some don't exist.
   */
  async run(): Promise<void> {
    const { argv, flags } = await this.parse(EnvelopesWatch);
    const context = this.context({ ...flags, timeout: undefined });
    preferLowMemory();
    const { until = ['COMPLETED'], exec } = flags;
    const words = argv.map(String);
    const { ids, fromStdin } = await readNamedOrSelected(words, flags, { leaveOut: notToWatch }, context);
    // A notice has already reported an empty run or stdin.
    if (ids.length === 0) return;
    const deadline = deadlineAfter(flags.timeout, continueHint(context.session.words, ids, fromStdin));
    const display = await openDisplay(ids, titleOf(ids, until), context);
    const watching = new WatchSession(display, { total: ids.length, until, exec }, context);
    try {
      const { signal } = deadline;
      const pace = flags.interval === undefined ? WATCH_PACE : { intervalMs: flags.interval };
      for await (const event of eventsOf(ids, { until, signal, ...pace }, display, context))
        await watching.take(event);
    } finally {
      deadline.stop();
      await watching.finish();
      await display.close();
    }
    watching.throwOnFailure();
  }
}

/** Yields what happens to the envelopes, until all are over, Ctrl-C, or the deadline. */
async function* eventsOf(
  ids: readonly string[],
  { signal, ...options }: Pick<WatchOptions, 'until' | 'intervalMs' | 'quietMs'> & { signal: AbortSignal },
  display: WatchDisplay,
  context: Context,
): AsyncGenerator<WatchEvent, void, undefined> {
  const client = await context.session.client({
    reserve: RESERVE,
    onWait: ({ ms, error }) =>
      void display.notify(`${sentenceOf(error)} Continuing in ${durationInWords(ms)}.`),
  });
  const over = new AbortController();
  try {
    yield* watchEnvelopes(client, ids, {
      ...options,
      wakeups: wakeups(context, over.signal),
      signal: AbortSignal.any([context.interrupt.signal, signal]),
    });
  } finally {
    over.abort();
  }
}

/** Yields the envelopes for which a listener on this machine receives webhooks. */
async function* wakeups({ session: { clock } }: Context, signal: AbortSignal): AsyncGenerator<string> {
  for await (const { envelopeId } of followEvents(eventsDir(), { clock, signal }))
    if (envelopeId !== null) yield envelopeId;
}

function titleOf(ids: readonly string[], until: readonly string[]): string {
  const statuses = until.join(' or ');
  return `Waiting for ${ids.length > 1 ? `${counted(ids.length, 'envelope')} to be ${statuses}` : statuses}`;
}
