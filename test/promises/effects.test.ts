import { writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { COMMAND_EFFECTS, type Effect } from '../../src/kernel/command-effects.ts';
import { isList, isRecord, parseJson } from '../../src/kernel/json.ts';
import { Home, type Sandbox } from '../support/cli.ts';

const home = new Home();
let sandbox: Sandbox;
let key = '';

/** Sends a request to the sandbox, in addition to those of the commands. */
async function ask(path: string, method = 'GET', body?: unknown): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json' };
  const given = body === undefined ? {} : { body: JSON.stringify(body) };
  const reply = parseJson(
    await (await fetch(new URL(path, sandbox.baseUrl), { method, headers, ...given })).text(),
  );
  return isRecord(reply) ? reply : {};
}

/** Returns the number of emails, and the methods of the requests, newest first. */
async function seen(): Promise<{ mails: number; requests: number; methods: string[] }> {
  const [{ data: mails }, { data, meta }] = [
    await ask('/__sandbox/mails'),
    await ask('/__sandbox/audit?pageSize=100'),
  ];
  const records = isList(data) ? data : [];
  const methods = records.map((one) => (isRecord(one) ? String(one.method) : ''));
  const total = isRecord(meta) && isRecord(meta.pagination) ? Number(meta.pagination.total) : Number.NaN;
  return { mails: isList(mails) ? mails.length : 0, requests: total, methods };
}

async function created(...more: string[]): Promise<string> {
  const words = ['envelopes', 'create', '--template', 'tmpl_nda', '--signer', 'Ada <ada@example.com>'];
  return String((await home.object`${words} ${more}`).id);
}

/**
 * Each command with its strongest effect. `DRAFT`, `SENT`, and `KEY` are replaced by existing ones; endless commands are
 * stopped.
 * Commands that act only on a sandbox email nobody and have no row here: sandbox … and demo. `mcp` sends email in
 * mcp.test.ts.
 */
const RUNS: Readonly<Record<string, string>> = {
  api: 'api POST /esign/envelopes/DRAFT/send',
  autocomplete: 'autocomplete bash',
  'bulk:create': 'bulk create rows.csv --send --again --yes',
  'bulk:export': 'bulk export --into rows.csv',
  'bulk:list': 'bulk list',
  'bulk:resume': 'bulk resume --yes',
  'bulk:roster': 'bulk roster rows.csv --template tmpl_nda',
  'bulk:status': 'bulk status',
  'bulk:template': 'bulk template other.csv --template tmpl_nda',
  doctor: 'doctor',
  'documents:download': 'documents download KEY --dir a --wait 0s',
  'documents:link': 'documents link KEY',
  'documents:verify': 'documents verify a',
  'envelopes:cancel': 'envelopes cancel SENT',
  'envelopes:create': 'envelopes create --template tmpl_nda --signer a@b.c --send',
  'envelopes:download': 'envelopes download SENT --dir b --wait 0s',
  'envelopes:evidence': 'envelopes evidence SENT --dir c --wait 0s',
  'envelopes:get': 'envelopes get SENT',
  'envelopes:list': 'envelopes list --all',
  'envelopes:remind': 'envelopes remind SENT',
  'envelopes:replace': 'envelopes replace SENT --subject Corrected --yes',
  'envelopes:send': 'envelopes send DRAFT',
  'envelopes:watch': 'envelopes watch SENT --timeout 1s',
  'events:drill': 'events drill --to http://127.0.0.1:9 --secret-file secret',
  'events:list': 'events list',
  'events:replay': 'events replay x --to http://127.0.0.1:9',
  'events:show': 'events show x',
  'events:trigger': 'events trigger sent --to http://127.0.0.1:9 --secret-file secret',
  find: 'find ada',
  late: 'late',
  listen: 'listen --port 0 --secret-file secret',
  log: 'log',
  'profiles:add': 'profiles add other --base-url http://127.0.0.1:9 --api-key-command true --no-verify',
  'profiles:edit': 'profiles edit sandbox --path-style',
  'profiles:list': 'profiles list',
  'profiles:remove': 'profiles remove nobody --yes',
  'profiles:show': 'profiles show',
  'profiles:use': 'profiles use sandbox',
  report: 'report',
  'templates:get': 'templates get tmpl_nda',
  'templates:list': 'templates list',
};
const ELSEWHERE = /^(sandbox:|demo$|mcp$)/;
const ENDLESS = ['listen'];

beforeAll(async () => {
  sandbox = await home.sandbox();
  await writeFile(home.path('secret'), 'whsec_0123456789abcdef0123456789');
  await writeFile(
    home.path('rows.csv'),
    'template_id,email\ntmpl_nda,ada@example.com\ntmpl_nda,bo@example.com\n',
  );
  const done = await created('--send');
  await home.run`sandbox sign ${done}`;
  // The latest run.
  await home.run`bulk create rows.csv --yes`;
  key = String((await home.object`envelopes get ${done}`).signedDocumentStorageKey);
});

/** A run with rows left to resume. */
const BEFORE: Readonly<Record<string, string>> = {
  'bulk:resume': 'bulk create rows.csv --send --again --first 1 --yes',
};

async function run(id: string): Promise<{ mails: number; methods: string[]; printed: string }> {
  const before = BEFORE[id];
  if (before !== undefined) await home.run(before.split(' '));
  let line = (RUNS[id] ?? '').replace('KEY', key);
  if (line.includes('DRAFT')) line = line.replace('DRAFT', await created());
  if (line.includes('SENT')) line = line.replace('SENT', await created('--send'));
  const under = ENDLESS.includes(id) ? ['timeout', '--signal=INT', '2'] : [];
  const then = await seen();
  const { stdout, stderr } = await home.run([...line.split(' '), '--no-input'], { under });
  const now = await seen();
  return {
    mails: now.mails - then.mails,
    methods: now.methods.slice(0, now.requests - then.requests),
    printed: stdout + stderr,
  };
}

/** The name of an effect, and the expected state after a run. */
const PROOFS: Readonly<Record<Effect, (mails: number, methods: readonly string[]) => boolean>> = {
  mails: (mails) => mails > 0,
  reads: (mails, methods) => mails === 0 && methods.length > 0 && methods.every((one) => one === 'GET'),
  writes: (mails) => mails === 0,
  deletes: (mails) => mails === 0,
  local: (mails, methods) => mails === 0 && methods.every((one) => one === 'GET'),
};
/** These use only the bucket, or only local data. */
const NO_REQUEST = /^(documents:(download|link))$/;

describe('the effect of a command in the registry', () => {
  it('is defined for every command', () => {
    const proven = Object.keys(COMMAND_EFFECTS).filter((id) => !ELSEWHERE.test(id));
    expect(Object.keys(RUNS).sort()).toEqual(proven.sort());
  });

  it.each(Object.keys(RUNS))('matches the emails and requests of %s', async (id) => {
    const effect = COMMAND_EFFECTS[id] ?? 'local';
    const { mails, methods, printed } = await run(id);
    const proof = PROOFS[effect === 'reads' && NO_REQUEST.test(id) ? 'local' : effect];
    expect(proof(mails, methods), `${effect}: ${mails} mails; ${methods.join(' ')}\n${printed}`).toBe(true);
    // A run that fails because of its arguments proves nothing.
    expect(printed).not.toMatch(/There is no (command|flag)|Missing (flag|argument)/);
  });
});
