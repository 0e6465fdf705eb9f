import * as Flags from '@oclif/core/flags';
import { isRead } from '../../api/http.ts';
import {
  callPages,
  isHttpMethod,
  parseCallPath,
  parseHttpMethod,
  pathWithQuery,
  type RawCall,
  sendCall,
} from '../../api/raw.ts';
import { EsignCommand } from '../../cli/command.ts';
import { noteRefusal } from '../../cli/dry-run.ts';
import { booleanFlag, confirmFlag, dryRunFlag, optionalArg, textFlag } from '../../cli/flags.ts';
import { readJsonText } from '../../cli/input/files.ts';
import { readPairList } from '../../cli/input/pairs.ts';
import { withOutcomeCheck } from '../../cli/outcome-check.ts';
import { UsageError } from '../../kernel/errors.ts';
import { parseJson } from '../../kernel/json.ts';
import { indentJson } from '../../kernel/text/json-text.ts';
import { escapeControlCharacters, writeJson, writeJsonArray } from '../../output/json.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeJson } from '../../output/text.ts';
import { requireConnection } from '../../settings/resolve.ts';

export default class Api extends EsignCommand {
  static override summary = "Call any API endpoint with the profile's key.";
  static override description =
    'PATH is relative to the base URL; the key is sent nowhere else. The response is printed as received, indented on a terminal. A write is sent once: if its response is lost, the command exits with 8 and the outcome is unknown.';
  static override usage = 'api [METHOD] PATH [FLAGS]';
  static override examples = [
    '<%= config.bin %> api /esign/templates -q pageSize=5',
    "<%= config.bin %> api GET /esign/envelopes -q status=SENT --paginate | jq -r '.[].id'",
    '<%= config.bin %> api POST /esign/envelopes --body envelope.json --dry-run',
    'echo \'{"reason":"wrong template"}\' | <%= config.bin %> api POST /esign/envelopes/env_123/cancel --body -',
  ];
  static override args = {
    method: optionalArg('GET, POST, …; defaults to GET when only PATH is given'),
    path: optionalArg('path below the base URL, such as /esign/envelopes'),
  };
  static override flags = {
    query: Flags.string({
      char: 'q',
      description: 'query parameter; can be repeated',
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'K=V',
    }),
    body: textFlag('FILE|-', 'JSON body from a file, or `-` for stdin'),
    paginate: booleanFlag('fetch all pages of a list and print one array'),
    confirm: confirmFlag,
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Api);
    // A single argument is a path to read; two are a method and a path.
    const [verb, path] = args.path === undefined ? ['GET', args.method] : [args.method, args.path];
    if (verb === undefined || path === undefined || isHttpMethod(path))
      throw new UsageError(`Missing argument PATH: ${Api.args.path.description ?? ''}.`, {
        hint: 'See `esign api --help`.',
      });
    const context = this.context(flags);
    const { terminal } = context;
    const { baseUrl } = requireConnection(await context.session.settings());
    const rawCall: RawCall = {
      method: parseHttpMethod(verb),
      path: parseCallPath(path, baseUrl),
      query: readPairList(flags.query, 'query'),
      signal: context.interrupt.signal,
    };
    refuseContradictions(rawCall, flags);
    rawCall.bodyText = flags.body === undefined ? undefined : await readJsonText(flags.body, 'body');
    const { method, bodyText } = rawCall;
    if (flags['dry-run']) {
      const body = bodyText === undefined ? null : parseJson(bodyText);
      const target = pathWithQuery(rawCall);
      const call = { dryRun: true, method, url: `${baseUrl}${target}`, body };
      await writeJson(call, terminal.hidingSecrets());
      const request = { method, path: target, bodyText };
      return noteRefusal(isRead(method) ? [] : [{ action: 'other', request }], context);
    }
    const { send } = await context.session.client();
    const out = terminal.hidingSecrets();
    if (flags.paginate)
      return writeJsonArray(callPages(send, rawCall), (item) => safeJsonText(indentJson(item), out), out);
    const work = () => sendCall(send, rawCall);
    const write = {
      unknown: () =>
        `Interrupted before the service responded. The outcome of ${method} ${pathWithQuery(rawCall)} is unknown.`,
      hint: () => 'The request was sent once. Check the current state before you send it again.',
    };
    const response = isRead(method) ? await work() : await withOutcomeCheck(write, context, work);
    await writeRawJson(response, out, terminal.json);
  }
}

function refuseContradictions(
  rawCall: RawCall,
  flags: { paginate: boolean; body?: string | undefined },
): void {
  if (flags.paginate && rawCall.method !== 'GET')
    throw new UsageError('--paginate can only be used with GET.', { hint: 'Remove --paginate, or use GET.' });
  if (flags.body !== undefined && isRead(rawCall.method))
    throw new UsageError(`A ${rawCall.method} has no body.`, {
      hint: 'Put the method before the path: `esign api POST PATH --body FILE`.',
    });
}

/**
 * Writes the JSON text of a response. In a pipe, it is written as received, except that characters that could affect a terminal are
 * escaped. On a terminal or with `pretty`, it is indented. The text is never parsed, so digits, the order of members, and unknown
 * members are preserved.
 */
async function writeRawJson(text: string, terminal: Terminal, pretty: boolean): Promise<void> {
  const trimmed = text.trim();
  if (trimmed === '') return pretty ? terminal.out('null\n') : undefined;
  const shaped = pretty || terminal.outIsTty ? indentJson(trimmed) : trimmed;
  await terminal.out(`${safeJsonText(shaped, terminal)}\n`);
}

function safeJsonText(json: string, terminal: Terminal): string {
  return terminal.outIsTty ? safeJson(json) : escapeControlCharacters(json);
}
