import type { Terminal } from '../../../output/terminal.ts';
import { safeLine } from '../../../output/text.ts';
import { type CheckResult, describeAnswer } from '../../../webhooks/drill/drill.ts';

const NAME_WIDTH = 22;

/** Renders the result of a check as a line. */
export function drillLine(result: CheckResult, terminal: Terminal): string {
  const { check, ok, status, ms, finding, notice } = result;
  if (!terminal.outIsTty) {
    const cells = [check, ok ? 'ok' : 'wrong', String(status ?? ''), String(ms), finding ?? notice ?? ''];
    return `${cells.map(safeLine).join('\t')}\n`;
  }
  const mark = ok ? terminal.style('green', '✓') : terminal.style('red', '✗');
  const did = `${finding ?? describeAnswer({ status, error: null })}${notice === undefined ? '' : `; ${notice}`}`;
  return `${mark} ${check.padEnd(NAME_WIDTH)} ${safeLine(did)}  ${terminal.style('dim', `${ms} ms`)}\n`;
}
