import type { Envelope } from '../../api/schemas.ts';
import { maskKey } from '../../kernel/redaction.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { isInFlight } from '../../kernel/vocabulary.ts';
import type { ListView } from '../../output/list.ts';
import { renderPairs } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeLine } from '../../output/text.ts';
import type { SandboxChoice } from '../../sandbox-control/control.ts';

interface RunningSandbox {
  baseUrl: string;
  apiKey: string;
  endpoint: string;
  bucket: string;
  dashboardUrl: string;
  dataDir: string;
}

/** Renders the facts of a sandbox that has just started, and what to try. */
export function renderSandbox(
  sandbox: RunningSandbox,
  current: string | undefined,
  terminal: Terminal,
): string {
  const pairs: [string, string][] = [
    ['API', sandbox.baseUrl],
    ['API key', maskKey(sandbox.apiKey)],
    ['Bucket', `${sandbox.bucket} at ${sandbox.endpoint}`],
    ['Web page', sandbox.dashboardUrl],
    ['State', sandbox.dataDir],
  ];
  const flag = current === 'sandbox' ? [] : ['--profile', 'sandbox'];
  return [
    `The sandbox is running. Ctrl-C stops it.\n\n`,
    renderPairs(pairs, terminal, '  '),
    '\nTry it from another terminal:\n',
    `  ${command('templates', 'list', ...flag)}\n`,
    `  ${command('envelopes', 'create', '--template', 'tmpl_nda', '--signer', 'ada@example.com', '--send', ...flag)}\n`,
    '  esign sandbox sign ENVELOPE_ID\n',
    `  ${command('envelopes', 'download', 'ENVELOPE_ID', ...flag)}\n`,
  ].join('');
}

/** Renders the next signer and the command to sign. Only on a terminal and if a signer is left. */
export function renderNextSigner(envelope: Envelope, terminal: Terminal): string {
  const left = (envelope.signers ?? []).filter(({ status }) => status !== 'SIGNED');
  const [next] = left.toSorted((a, b) => (a.order ?? 0) - (b.order ?? 0));
  if (!terminal.outIsTty || !isInFlight(envelope.status) || next === undefined) return '';
  const who = safeLine(next.name ?? next.email ?? 'Somebody');
  return terminal.style('dim', `${who} is next:  ${command('sandbox', 'sign', envelope.id)}\n`);
}

/** The list of ambiguities in the API document, and how this sandbox handles them. */
export const choiceList: ListView<SandboxChoice> = {
  id: (one) => one.name,
  empty: 'This sandbox has no choices.',
  columns: [
    { key: 'name', header: 'NAME', value: (one) => one.name, fixed: true },
    {
      key: 'value',
      header: 'VALUE',
      value: (one) => one.value,
      color: (one) => (one.value === one.default ? undefined : 'yellow'),
      fixed: true,
    },
    {
      key: 'values',
      header: 'OR',
      value: (one) => one.values.filter((value) => value !== one.value).join(', '),
    },
    { key: 'decides', header: 'DECIDES', value: (one) => one.decides },
  ],
};
