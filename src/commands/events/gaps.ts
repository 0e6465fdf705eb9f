import { EsignCommand } from '../../cli/command.ts';
import { durationFlag, fieldsFlag, formatFlags, sinceFlag, textFlag } from '../../cli/flags.ts';
import { counted, durationText } from '../../kernel/duration.ts';
import { PartialError } from '../../kernel/errors.ts';
import { eventsDir } from '../../kernel/files/paths.ts';
import { type ListView, writeList } from '../../output/list.ts';
import { relativeTime } from '../../output/time.ts';
import { GAPS } from '../../webhooks/defaults.ts';
import { findGaps, type Gap } from '../../webhooks/journal/gaps.ts';

export default class EventsGaps extends EsignCommand {
  static override summary =
    'Compare received webhooks with the API and list missing or contradictory events.';
  static override description =
    "Exits with 10 if there are gaps, otherwise with 0. Envelopes without a webhook URL are skipped. The API doesn't show when an envelope was canceled, so a missed cancellation is reported until the envelope is no longer in the journal.";
  static override examples = [
    '<%= config.bin %> events gaps',
    '<%= config.bin %> events gaps --since 7d --webhook-url https://hooks.example.com/esign --json',
    '<%= config.bin %> events gaps -q | <%= config.bin %> envelopes get -',
  ];
  static override flags = {
    ...formatFlags,
    fields: fieldsFlag('envelopeId,event,why'),
    since: sinceFlag({
      description: `check changes and events since this time (default ${durationText(GAPS.spanMs)})`,
      helpValue: '24h|DATE',
    }),
    grace: durationFlag(
      '1m',
      `how long a delivery may take before it counts as missing (default ${durationText(GAPS.graceMs)})`,
    ),
    'webhook-url': textFlag('URL', 'only envelopes with this webhook URL'),
  };

  async run(): Promise<void> {
    const { flags, session, terminal, interrupt } = await this.start(EventsGaps);
    const now = session.clock.now();
    const { envelopes } = await session.client();
    const { gaps, checked } = await findGaps(envelopes, eventsDir(), {
      since: flags.since?.(now) ?? now - GAPS.spanMs,
      now,
      graceMs: flags.grace ?? GAPS.graceMs,
      webhookUrl: flags['webhook-url'],
      signal: interrupt.signal,
      warn: (message) => terminal.notice(message),
    });
    await writeList(gaps, gapList(now), flags, terminal);
    if (gaps.length === 0) return;
    throw new PartialError(
      `${counted(gaps.length, 'gap')} in ${counted(checked, 'envelope')} with webhooks, as shown above.`,
      {
        hint: "The service doesn't resend missed events. To read the envelopes from the API, run `esign envelopes get ID`.",
      },
    );
  }
}

/** Returns the list of differences between the journal and the API. */
export function gapList(now: number): ListView<Gap> {
  return {
    id: (one) => one.envelopeId,
    empty: 'No gaps. Every change was received as an event, and all events agree with the API.',
    columns: [
      { key: 'kind', header: 'GAP', fixed: true },
      { key: 'envelopeId', header: 'ENVELOPE', fixed: true },
      { key: 'event', fixed: true },
      { key: 'at', header: 'WHEN', show: (one) => relativeTime(one.at, now), fixed: true },
      { key: 'status', fixed: true },
      { key: 'signer' },
      { key: 'why' },
    ],
  };
}
