import type { Context } from '../../../cli/context.ts';
import type { Moment } from '../../../kernel/clock.ts';
import { counted } from '../../../kernel/duration.ts';
import { PartialError } from '../../../kernel/errors.ts';
import { eventsDir } from '../../../kernel/files/paths.ts';
import { type ListFormat, writeList } from '../../../output/list.ts';
import { GAPS } from '../../../webhooks/defaults.ts';
import { findGaps } from '../../../webhooks/journal/gaps.ts';
import { gapList } from './view.ts';

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
    `${counted(gaps.length, 'gap')} in ${counted(checked, 'envelope')} with webhooks; each is shown above.`,
    { hint: 'The service does not resend missed events. Read the envelopes instead.' },
  );
}
