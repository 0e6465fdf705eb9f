import type { RawResponse } from '../../api/http.ts';
import {
  callMethod,
  callPages,
  callPath,
  callTarget,
  isWrite,
  type RawCall,
  sendCall,
} from '../../api/raw.ts';
import type { Context } from '../../cli/context.ts';
import { readJsonText } from '../../cli/input/files.ts';
import { readPairList } from '../../cli/input/pairs.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { type OpenWrite, withOutcomeCheck } from '../../cli/write.ts';
import { UsageError } from '../../kernel/errors.ts';
import { parseJson } from '../../kernel/json.ts';
import { indentJson } from '../../kernel/text/json-text.ts';
import { withoutActing, writeJson } from '../../output/json.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeJson, safeLine } from '../../output/text.ts';
import { requireConnection } from '../../profiles/resolve.ts';

export interface CallFlags {
  query: string[] | undefined;
  body: string | undefined;
  paginate: boolean;
  include: boolean;
  'dry-run': boolean;
}

/** Runs `esign api`. A single argument is a path to read; two are a method and a path. */
export async function call(words: readonly string[], flags: CallFlags, context: Context): Promise<void> {
  const [path = '', method] = [...words].reverse();
  const { baseUrl } = requireConnection(await context.session.settings());
  const rawCall: RawCall = {
    method: callMethod(method ?? 'GET'),
    path: callPath(path, baseUrl),
    query: readPairList(flags.query, 'query'),
    signal: context.interrupt.signal,
    onResponse: flags.include
      ? (response) => context.terminal.err(headText(response, context.terminal))
      : undefined,
  };
  refuseContradictions(rawCall, flags);
  rawCall.bodyText = flags.body === undefined ? undefined : await readJsonText(flags.body, 'body');
  if (flags['dry-run']) return showCall(rawCall, baseUrl, context.terminal);
  const { send } = await context.session.client();
  const out = context.terminal.hidingSecrets();
  if (flags.paginate) return writeRawItems(callPages(send, rawCall), out);
  const work = () => sendCall(send, rawCall);
  const response = isWrite(rawCall.method)
    ? await withOutcomeCheck(openCall(rawCall), context, work)
    : await work();
  await writeRawJson(response, out, context.terminal.json);
}

/** Returns the message for an interrupted write, whose outcome the service doesn't show. */
function openCall(rawCall: RawCall): OpenWrite {
  const { method } = rawCall;
  return {
    unknown: () =>
      `Interrupted before the service responded. The outcome of ${method} ${callTarget(rawCall)} is unknown.`,
    hint: () => 'The request was sent once. Check the current state before you send it again.',
  };
}

function refuseContradictions(rawCall: RawCall, flags: CallFlags): void {
  if (flags.paginate && rawCall.method !== 'GET')
    throw new UsageError('--paginate can only be used with GET.', { hint: 'Remove --paginate, or use GET.' });
  if (flags.body !== undefined && !isWrite(rawCall.method))
    throw new UsageError(`A ${rawCall.method} has no body.`, {
      hint: 'Put the method before the path: `esign api POST PATH --body FILE`.',
    });
}

function showCall(rawCall: RawCall, baseUrl: string, terminal: CommandTerminal): Promise<void> {
  const body = rawCall.bodyText === undefined ? null : parseJson(rawCall.bodyText);
  const url = `${baseUrl}${callTarget(rawCall)}`;
  return writeJson({ dryRun: true, method: rawCall.method, url, body }, terminal.hidingSecrets());
}

/** Returns the status and headers of a response. Cookies are left out, because they are as secret as keys. */
function headText(response: RawResponse, terminal: CommandTerminal): string {
  const lines = Object.entries(response.headers)
    .filter(([name]) => name !== 'set-cookie')
    .flatMap(([name, value]) => [value ?? []].flat().map((one) => `${name}: ${one}`));
  const text = [`HTTP ${response.status}`, ...lines].map(safeLine).join('\n');
  return `${terminal.redactor.redact(text)}\n\n`;
}

const INDENT = '  ';

/**
 * Writes the JSON text of a response. In a pipe, it is written as received, except that characters that could affect a terminal are
 * escaped. On a terminal or with `pretty`, it is indented. The text is never parsed, so digits, the order of members, and unknown
 * members are preserved.
 */
async function writeRawJson(text: string, terminal: Terminal, pretty: boolean): Promise<void> {
  const trimmed = text.trim();
  if (trimmed === '') return pretty ? terminal.out('null\n') : undefined;
  const shaped = pretty || terminal.outIsTty ? indentJson(trimmed) : trimmed;
  await terminal.out(`${safe(shaped, terminal)}\n`);
}

/** Writes JSON texts as a single array, each as soon as it is available. */
async function writeRawItems(items: AsyncIterable<string>, terminal: Terminal): Promise<void> {
  let first = true;
  for await (const item of items) {
    const text = indentJson(item).replaceAll('\n', `\n${INDENT}`);
    await terminal.out(`${first ? '[' : ','}\n${INDENT}${safe(text, terminal)}`);
    first = false;
  }
  await terminal.out(first ? '[]\n' : '\n]\n');
}

function safe(json: string, terminal: Terminal): string {
  return terminal.outIsTty ? safeJson(json) : withoutActing(json);
}
