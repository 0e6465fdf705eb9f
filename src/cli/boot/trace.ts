import type { TraceEntry } from '../../api/http.ts';
import { safeBlock } from '../../output/text.ts';

const BODY_LIMIT = 2_000;

/** A request to the service or the bucket. */
export type TracedRequest = Pick<TraceEntry, 'url' | 'status' | 'ms' | 'error'> &
  Partial<Pick<TraceEntry, 'rate' | 'requestBody' | 'responseBody'>> & { method: string };

/** Formats a request and its response for --debug. Secrets are removed before text is shortened, which could cut a secret in half. */
export function traceText(entry: TracedRequest, redact: (text: string) => string): string {
  const cut = (text: string) => shortened(redact(text));
  const outcome = entry.status === undefined ? (entry.error ?? 'no reply') : String(entry.status);
  const lines = [`→ ${entry.method} ${entry.url}`];
  if (entry.requestBody !== undefined) lines.push(`  ${cut(entry.requestBody)}`);
  lines.push(`← ${outcome} in ${entry.ms} ms${rateText(entry.rate)}`);
  if (entry.responseBody) lines.push(`  ${cut(entry.responseBody)}`);
  return `${safeBlock(redact(lines.join('\n')))}\n`;
}

function rateText(rate: TraceEntry['rate']): string {
  if (rate?.remaining === undefined) return '';
  const reset = rate.resetAt === undefined ? '' : `, resets ${new Date(rate.resetAt).toISOString()}`;
  return ` (rate: ${rate.remaining} of ${rate.limit ?? '?'} left${reset})`;
}

function shortened(text: string): string {
  return text.length <= BODY_LIMIT ? text : `${text.slice(0, BODY_LIMIT)}… (${text.length} characters)`;
}
