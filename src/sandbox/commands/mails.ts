import type { ListedMail, SandboxControl } from '../../api/sandbox-control.ts';
import { EsignCommand } from '../../cli/command.ts';
import { durationFlag, listFlags, textFlag } from '../../cli/flags.ts';
import { withLimit } from '../../cli/input/limit-flags.ts';
import { WaitTimeoutError } from '../../kernel/errors.ts';
import { waitExpiredMessage } from '../../kernel/wait-expired.ts';
import { isTableOutput, type ListView, writeList } from '../../output/print-list.ts';
import type { Terminal } from '../../output/terminal.ts';
import { inColumns, safeLine, truncate } from '../../output/text.ts';
import { relativeTime } from '../../output/time.ts';

export default class SandboxMails extends EsignCommand {
  static override summary = 'List the emails that the sandbox has sent, newest first, with signing links.';
  static override examples = [
    '<%= config.bin %> sandbox mails',
    '<%= config.bin %> sandbox mails --to ada@example.com --wait 5s --json',
    '<%= config.bin %> sandbox mails --envelope env_123 --json | jq -r ".[].link"',
  ];
  static override flags = {
    to: textFlag('EMAIL', 'only emails to this address'),
    envelope: textFlag('ID', 'only emails about this envelope'),
    wait: durationFlag('5s', 'maximum time to wait for the first email; exits with 124 if none arrives'),
    ...listFlags,
  };

  async run(): Promise<void> {
    const { flags, context, terminal, session } = await this.start(SandboxMails);
    const all = (await readMails(flags, await session.sandbox())).reverse();
    const isTable = isTableOutput(flags, terminal) && all.length > 0;
    const mails = all.slice(0, flags.limit ?? (isTable && !flags.all ? MAX_SHOWN : undefined));
    if (isTable) await terminal.out(renderMails(mails, terminal, session.now()));
    else await writeList(mails, mailList(session.now()), flags, terminal);
    if (mails.length < all.length) withLimit.notice(flags, context, all.length, { shown: mails.length });
  }
}

/** How many emails, of two lines each, fit on a screen of 24 lines. */
const MAX_SHOWN = 10;

/** The longest wait of a single request. It is shorter than any reasonable timeout. */
const MAX_REQUEST_WAIT_MS = 5_000;

/**
 * Returns the emails of the sandbox. With `wait`, waits for the first one.
 * @throws WaitTimeoutError if none arrives in time.
 */
async function readMails(
  wanted: { to?: string | undefined; envelope?: string | undefined; wait?: number | undefined },
  sandbox: Pick<SandboxControl, 'mails'>,
): Promise<ListedMail[]> {
  const { to, envelope, wait } = wanted;
  const filter = { to, envelopeId: envelope };
  if (wait === undefined) return sandbox.mails(filter);
  const until = performance.now() + wait;
  for (;;) {
    const left = Math.max(0, Math.round(until - performance.now()));
    const waitMs = Math.min(left, MAX_REQUEST_WAIT_MS);
    const mails = await sandbox.mails({ ...filter, waitMs });
    if (mails.length > 0) return mails;
    if (left <= waitMs) break;
  }
  throw new WaitTimeoutError(waitExpiredMessage('email', wait, { to, envelope }), {
    hint: 'Signers get an email when an envelope is sent. `esign sandbox mails` lists all emails.',
  });
}

/** Renders emails for people: one line each, and below it the link to the signing page, which is never cut. */
function renderMails(mails: readonly ListedMail[], terminal: Terminal, now: number): string {
  const heads = inColumns(
    mails.map(({ at, kind, to }) => [relativeTime(at, now), kind, to].map((text) => safeLine(text))),
  );
  return mails
    .map(({ subject, link }, index) => {
      const head = `${heads[index]?.trimEnd() ?? ''}  ${terminal.style('bold', safeLine(subject))}`;
      const url = link === null ? '' : `  ${safeLine(link)}\n`;
      return `${truncate(head, terminal.columns)}\n${url}`;
    })
    .join('');
}

function mailList(now: number): ListView<ListedMail> {
  return {
    id: (mail) => mail.id,
    empty: 'No matching emails. Signers get an email when an envelope is sent.',
    columns: [
      { key: 'at', header: 'SENT', show: (mail) => relativeTime(mail.at, now) },
      { key: 'kind' },
      { key: 'to' },
      { key: 'subject' },
      { key: 'envelopeId', header: 'ENVELOPE', fixed: true },
      { key: 'link', fixed: true },
    ],
  };
}
