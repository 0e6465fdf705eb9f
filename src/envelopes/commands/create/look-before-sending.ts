import { AccountHistory } from '../../../catalog/account-history.ts';
import type { Context } from '../../../cli/session/context.ts';
import { createBody, type EnvelopeInput, newRequestId } from '../../../once/create-body.ts';
import { findRecentCreate } from '../../../once/recent-create.ts';
import { relativeTime } from '../../../output/time.ts';
import { findingsInHistory, type LabeledNotice, noticesOf } from '../history-findings.ts';

/** What the user should see before an envelope is sent. */
export interface SecondLook {
  /** What the account already knows about its signers. */
  notes: string[];
  /** The same was sent from this machine a short while ago. */
  repeats: string | undefined;
}

/** How many open envelopes of the signers are requested; the others are shown as the index knows them. */
const MAX_READ_AGAIN = 5;

/** Looks at an envelope that is about to be sent: in the local index and the log, and reads only what may have changed since. */
export async function lookBeforeSending(envelope: EnvelopeInput, context: Context): Promise<SecondLook> {
  const { session, interrupt } = context;
  const client = await session.client();
  const { templateId, signers } = envelope;
  const findings = await findingsInHistory(
    new AccountHistory(signers, session.now()),
    [{ templateId, signers }],
    client,
    context,
    {
      readAgain: MAX_READ_AGAIN,
    },
  );
  const isOneSigner = signers.length === 1;
  const notices = noticesOf(findings, { templates: [templateId], isOneSigner, now: session.now() });
  const body = createBody(envelope, newRequestId());
  const recent = await findRecentCreate(client, body, await session.memory(), interrupt.signal);
  return {
    notes: notices.map(({ text, next }) => sentencesOf(text, next)),
    repeats:
      recent &&
      `This machine sent the same request ${relativeTime(recent.at, session.clock.now())}: ${recent.envelope.id} (${recent.envelope.status ?? 'sent'}).`,
  };
}

function sentencesOf(text: string, next: LabeledNotice['next']): string {
  const sentence = /[?.]$/.test(text) ? text : `${text}.`;
  return next === undefined ? sentence : `${sentence} ${next.why}: \`${next.command}\`.`;
}
