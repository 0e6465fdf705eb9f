import type { Context } from '../../../cli/context.ts';
import { readWebhookSecret } from '../../../cli/input/secrets.ts';
import { PartialError } from '../../../kernel/errors.ts';
import { EVENTS } from '../../../kernel/vocabulary.ts';
import type { Terminal } from '../../../output/terminal.ts';
import { safeLine } from '../../../output/text.ts';
import { type CheckResult, describeAnswer, drill } from '../../../webhooks/drill/drill.ts';
import { shownUrl } from '../../../webhooks/forward/send.ts';
import { eventNames } from '../event-flags.ts';
import { targetUrl } from '../send.ts';

export interface DrillFlags {
  to: string;
  'secret-file'?: string | undefined;
  events?: string | undefined;
}

/**
 * Tests a receiver and shows the result of each check.
 * @throws PartialError if a check fails, NetworkError if nothing is listening.
 */
export async function drillReceiver(flags: DrillFlags, context: Context): Promise<void> {
  const { terminal } = context;
  const { json } = terminal;
  const { signal } = context.interrupt;
  const { clock } = context.session;
  const url = targetUrl(flags.to);
  const events = [...(eventNames(flags.events) ?? EVENTS)];
  const secret = (await readWebhookSecret(flags['secret-file'], flags.to, context.terminal, true)) ?? '';
  const results: CheckResult[] = [];
  const checks = drill({ url, secret, events, clock, signal });
  const next = () => context.terminal.waiting(`Waiting for ${new URL(url).host}`, () => checks.next());
  for (let step = await next(); step.done !== true; step = await next()) {
    results.push(step.value);
    await (json ? context.terminal.jsonLine(step.value) : terminal.out(drillLine(step.value, terminal)));
  }
  const wrong = results.filter(({ ok }) => !ok).map(({ check }) => check);
  if (wrong.length > 0)
    throw new PartialError(
      `${shownUrl(url)} failed ${wrong.length} of ${results.length} checks: ${wrong.join(', ')}.`,
      { hint: 'Fix the failures listed above, then run the drill again.' },
    );
}

const NAME_WIDTH = 22;

/** Renders the result of a check as a line. */
function drillLine(result: CheckResult, terminal: Terminal): string {
  const { check, ok, status, ms, finding, notice } = result;
  if (!terminal.outIsTty) {
    const cells = [check, ok ? 'ok' : 'wrong', String(status ?? ''), String(ms), finding ?? notice ?? ''];
    return `${cells.map(safeLine).join('\t')}\n`;
  }
  const mark = ok ? terminal.style('green', '✓') : terminal.style('red', '✗');
  const did = `${finding ?? describeAnswer({ status, error: null })}${notice === undefined ? '' : `; ${notice}`}`;
  return `${mark} ${check.padEnd(NAME_WIDTH)} ${safeLine(did)}  ${terminal.style('dim', `${ms} ms`)}\n`;
}
