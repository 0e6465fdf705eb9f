import type { Context } from '../../../cli/context.ts';
import type { Moment } from '../../../kernel/clock.ts';
import { counted } from '../../../kernel/duration.ts';
import { PartialError } from '../../../kernel/errors.ts';
import { eventsDir } from '../../../kernel/files/paths.ts';
import { type ListFormat, type ListView, writeList } from '../../../output/list.ts';
import { relativeTime } from '../../../output/time.ts';
import { GAPS } from '../../../webhooks/defaults.ts';
import { findGaps, type Gap } from '../../../webhooks/journal/gaps.ts';

export interface GapFlags extends ListFormat {
  since?: Moment | undefined;
  grace?: number | undefined;
  'webhook-url'?: string | undefined;
}

/**
 * Shows the differences between the journal on this machine and the API.
 * @throws PartialError if there are any.
 */
export async function reportGaps(flags: GapFlags, context: Context): Promise<void> {
  const now = context.session.clock.now();
  const { envelopes } = await context.session.client();
  const { gaps, checked } = await findGaps(envelopes, eventsDir(), {
    since: flags.since?.(now) ?? now - GAPS.spanMs,
    now,
    graceMs: flags.grace ?? GAPS.graceMs,
    webhookUrl: flags['webhook-url'],
    signal: context.interrupt.signal,
  });
  await writeList(gaps, gapList(now), flags, context.terminal);
  if (gaps.length === 0) return;
  throw new PartialError(
    `${counted(gaps.length, 'gap')} in ${counted(checked, 'envelope')} with webhooks, as shown above.`,
    {
      hint: "The service doesn't resend missed events. To read the envelopes from the API, run `esign envelopes get ID`.",
    },
  );
}

/** Returns the list of differences between the journal and the API. */
export function gapList(now: number): ListView<Gap> {
  return {
    id: (one) => one.envelopeId,
    empty: 'No gaps. Every change was received as an event, and all events agree with the API.',
    columns: [
      { key: 'kind', header: 'GAP', value: (one) => one.kind, fixed: true },
      { key: 'envelopeId', header: 'ENVELOPE', value: (one) => one.envelopeId, fixed: true },
      { key: 'event', header: 'EVENT', value: (one) => one.event, fixed: true },
      {
        key: 'at',
        header: 'WHEN',
        value: (one) => one.at ?? '',
        show: (one) => relativeTime(one.at, now),
        fixed: true,
      },
      { key: 'status', header: 'STATUS', value: (one) => one.status ?? '', fixed: true },
      { key: 'signer', header: 'SIGNER', value: (one) => one.signer ?? '' },
      { key: 'why', header: 'WHY', value: (one) => one.why },
    ],
  };
}
