import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { writeDryRun } from '../../cli/dry-run.ts';
import { dryRunFlag, textFlag } from '../../cli/flags.ts';
import { requireWebhookSecret } from '../../cli/input/secrets.ts';
import { PartialError } from '../../kernel/errors.ts';
import { indented } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeLine } from '../../output/text.ts';
import { DRILL_CHECKS } from '../drill/checks.ts';
import { type CheckResult, describeResponse, drill } from '../drill/drill.ts';
import { shownUrl } from '../forward/send.ts';
import { targetUrl } from './send-to-receiver.ts';

export default class EventsDrill extends EsignCommand {
  static override summary =
    'Test a webhook receiver with valid, forged, duplicate, and malformed deliveries.';
  static override description =
    'Sends valid, duplicate, out-of-order, forged, and altered deliveries, unknown events and fields, both payload shapes, a 1 MiB body, and a slow request. All deliveries are for made-up envelopes. Exits with 0 if every response is correct, 10 if one is wrong, and 8 if nothing is listening.';
  static override examples = [
    '<%= config.bin %> events drill --to http://localhost:3000/hook --secret-file my.secret',
    '<%= config.bin %> events drill --to https://staging.example.com/hook --secret-file webhook.secret',
    '<%= config.bin %> events drill --to localhost:3000/hook --secret-file my.secret --json | jq "select(.ok | not)"',
  ];
  static override flags = {
    to: Flags.string({ description: 'receiver URL', required: true, helpValue: 'URL' }),
    'secret-file': textFlag('FILE', "file with the receiver's webhook secret (or set ESIGN_WEBHOOK_SECRET)"),
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { flags, terminal, session, interrupt } = await this.start(EventsDrill);
    const url = targetUrl(flags.to);
    const secret = await requireWebhookSecret(flags['secret-file'], terminal);
    const names = DRILL_CHECKS.map(({ name }) => name);
    if (flags['dry-run']) return writeDryRun(names, 'check', terminal);
    const results: CheckResult[] = [];
    const checks = drill({ url, secret, clock: session.clock, signal: interrupt.signal });
    const next = () => terminal.waiting(`Waiting for ${new URL(url).host}`, () => checks.next());
    for (let step = await next(); step.done !== true; step = await next()) {
      results.push(step.value);
      await (terminal.json ? terminal.jsonLine(step.value) : terminal.out(drillLine(step.value, terminal)));
    }
    const wrong = results.filter(({ ok }) => !ok).map(({ check }) => check);
    if (wrong.length > 0)
      throw new PartialError(
        `${shownUrl(url)} failed ${wrong.length} of ${DRILL_CHECKS.length} checks: ${wrong.join(', ')}.`,
        {
          hint:
            results.length < DRILL_CHECKS.length
              ? 'It has to accept valid deliveries before the other checks can run. Fix that, then run the drill again.'
              : 'Fix the failures listed above, then run the drill again.',
        },
      );
    terminal.err(terminal.outIsTty ? `All ${DRILL_CHECKS.length} checks passed.\n` : '');
  }
}

const NAME_WIDTH = 22;

/** Renders the result of a check as a line. */
function drillLine(result: CheckResult, terminal: Terminal): string {
  const { check, ok, status, ms, finding } = result;
  if (!terminal.outIsTty) {
    const cells = [check, ok ? 'ok' : 'wrong', String(status ?? ''), String(ms), finding ?? ''];
    return `${cells.map(safeLine).join('\t')}\n`;
  }
  const mark = ok ? terminal.style('green', '✓') : terminal.style('red', '✗');
  const did = finding ?? describeResponse({ status, error: null });
  const text = indented(`${safeLine(did)}  ${ms} ms`, NAME_WIDTH + 3, terminal);
  return `${mark} ${check.padEnd(NAME_WIDTH)} ${text}\n`;
}
