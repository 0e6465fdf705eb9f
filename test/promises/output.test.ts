import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, beforeEach, describe, expect, it, type RunnerTask } from 'vitest';
import { outputSchemaOf } from '../../src/cli/describe/flag-schema.ts';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { nameOf } from '../output-contract/schemas.ts';
import { SHAPES, SHARED } from '../output-contract/shapes.ts';
import { argv } from '../support/argv.ts';
import { Home, jsonLines, type LongRunning, reportedError } from '../support/cli.ts';

const root = join(import.meta.dirname, '../..');
const contract = join(root, 'contract/output');
const SECRET = 'whsec_0123456789abcdef0123456789';
const home = new Home();
const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, keywords: ['x-form'] });
/** The output of each case: `envelopes:get/several`. */
const seen = new Set<string>();
const CASES = Object.entries(SHAPES).flatMap(([id, shapes]) =>
  Object.keys(shapes).map((occasion) => `${id}/${occasion}`),
);
/** The tests of this file. */
let tests: readonly RunnerTask[] = [];
let listener: LongRunning;
let url = '';

/** Only documented fields: a later version may print more, this one doesn't. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (!isRecord(schema)) return schema;
  const parts = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  if (schema.type !== 'object' || 'additionalProperties' in schema) return parts;
  return { ...parts, additionalProperties: false };
}

async function load(name: string): Promise<Record<string, unknown>> {
  const schema = closed(parseJson(await readFile(join(contract, `${name}.json`), 'utf8')));
  if (!isRecord(schema)) throw new Error(`${name} is not a schema`);
  return schema;
}

/** Returns the schema of a case from its committed file. */
async function validatorOf(id: string, occasion: string): Promise<ValidateFunction> {
  const { anyOf } = await load(nameOf(id));
  const index = Object.keys(SHAPES[id] ?? {}).indexOf(occasion);
  const part: unknown = Array.isArray(anyOf) ? anyOf[index] : undefined;
  if (!isRecord(part)) throw new Error(`there is no ${id}/${occasion}`);
  return ajv.compile(part);
}

/** The schemas of whole commands, compiled once each. */
const wholes = new Map<string, ValidateFunction>();

async function check(id: string, occasion: string, stdout: string): Promise<void> {
  const values = SHAPES[id]?.[occasion]?.form === 'lines' ? jsonLines(stdout) : [parseJson(stdout)];
  const valid = await validatorOf(id, occasion);
  const whole = wholes.get(id) ?? ajv.compile(outputSchemaOf(root, id));
  wholes.set(id, whole);
  expect(values.length, `${id} printed nothing`).toBeGreaterThan(0);
  for (const value of values) {
    expect(valid(value), `${id}/${occasion}: ${ajv.errorsText(valid.errors)}\n${stdout}`).toBe(true);
    // As `--help --json` prints it: in one piece.
    expect(whole(value), `${id}: ${ajv.errorsText(whole.errors)}\n${stdout}`).toBe(true);
  }
  seen.add(`${id}/${occasion}`);
}

/** Runs the command and validates its output against the schema of that case. */
async function run(id: string, occasion: string, words: readonly string[], code = 0): Promise<string> {
  const finished = await home.run([...id.split(':'), ...words, '--json']);
  expect(finished.code, finished.stderr).toBe(code);
  await check(id, occasion, finished.stdout);
  return finished.stdout;
}

function idOf(stdout: string): string {
  const value = parseJson(stdout);
  return isRecord(value) ? String(value.id) : '';
}

function draft(...more: string[]): Promise<string> {
  const words = ['--template', 'tmpl_nda', '--signer', 'Ada <ada@example.com>', ...more];
  return run('envelopes:create', 'created', words).then(idOf);
}

beforeAll(async () => {
  for (const name of Object.keys(SHARED)) ajv.addSchema(await load(name));
  const { ready } = await home.sandbox();
  await check('sandbox:start', 'ready', JSON.stringify(ready));
  await writeFile(home.path('secret'), SECRET);
  listener = home.background`listen --port 0 --secret-file secret --json`;
  url = String((await listener.object()).url);
});
beforeEach(({ task }) => {
  tests = task.suite?.tasks ?? [];
});
afterAll(async () => {
  // A run of some of the tests covers only some of the cases.
  if (tests.every(({ result }) => result?.state === 'pass'))
    expect(CASES.filter((name) => !seen.has(name))).toEqual([]);
});

describe('the --json output', () => {
  it('matches the published schemas for envelopes, from draft to documents', async () => {
    const hook = ['--webhook-url', url, '--webhook-secret-file', 'secret'];
    const [id, other, third] = [await draft('--send', ...hook), await draft(), await draft()];
    await run('envelopes:create', 'dryRun', ['--template', 'tmpl_nda', '--signer', 'a@b.c', '--dry-run']);
    await run('envelopes:send', 'one', [other]);
    await run('envelopes:send', 'several', [third, 'nope', '--yes'], 10);
    await run('envelopes:remind', 'one', [id]);
    await run('envelopes:remind', 'several', [id, 'nope', '--yes'], 10);
    await run('sandbox:view', 'envelope', [id]);
    await run('sandbox:sign', 'envelope', [id]);
    await run('sandbox:decline', 'envelope', [other]);
    await run('envelopes:cancel', 'one', [third]);
    await run('envelopes:cancel', 'several', [third, await draft(), '--yes'], 10);
    await run('envelopes:send', 'dryRun', [await draft(), '--dry-run']);
    const open = await draft('--send');
    for (const action of ['remind', 'cancel']) {
      await run(`envelopes:${action}`, 'dryRun', [open, '--dry-run']);
      await run(`envelopes:${action}`, 'dryRun', [open, id, '--dry-run'], 10);
    }
    await run('envelopes:remind', 'one', [open]);
    await run('envelopes:remind', 'dryRun', [open, '--min-gap', '1h', '--dry-run']);
    await run('envelopes:remind', 'several', [open, open, '--min-gap', '1h', '--yes']);
    const wrong = [await draft('--send'), '--signer', 'ada@example.com=Bo <bo@example.com>'];
    await run('envelopes:replace', 'dryRun', [...wrong, '--dry-run']);
    await run('envelopes:replace', 'replaced', wrong);
    await run('envelopes:watch', 'changes', [id]);
    await run('envelopes:watch', 'changes', [id, 'env_none'], 10);
    await run('envelopes:get', 'one', [id]);
    await run('envelopes:get', 'several', [id, other, 'nope'], 10);
    await run('envelopes:list', 'list', []);
    await run('envelopes:list', 'fields', ['--fields', 'id,signers.0.email,nope']);
    await run('find', 'list', ['ada']);
    await run('report', 'report', ['--by', 'template']);
    await run('report', 'attention', ['--attention']);
    await run('late', 'list', ['--after', '0s']);
    await run('late', 'fields', ['--after', '0s', '--fields', 'envelopeId,next']);
    await run('find', 'fields', ['ada', '--fields', 'id,status']);
    await run('envelopes:download', 'files', [id]);
    await run('envelopes:evidence', 'evidence', [id, '--dir', 'evidence']);
    await run('documents:verify', 'files', []);
    const { signedDocumentStorageKey } = await home.object`envelopes get ${id}`;
    const key = String(signedDocumentStorageKey);
    await run('documents:link', 'one', [key]);
    await run('documents:link', 'several', [key, 'nope'], 10);
    await run('documents:download', 'files', [key, 'nope', '--dir', 'downloads', '--wait', '0s'], 10);
  }, 120_000);

  it('validates the output of webhooks', async () => {
    await draft('--send', '--webhook-url', url, '--webhook-secret-file', 'secret');
    const delivery = JSON.stringify(await listener.object());
    await check('listen', 'lines', delivery);
    await run('events:list', 'list', []);
    await run('events:list', 'fields', ['--fields', 'id,envelopeId']);
    const id = (await home.run`events list -q -L 1`).stdout.trim();
    await run('events:show', 'event', [id]);
    const of = (await home.run`events list --fields envelopeId -L 1`).stdout.trim();
    await run('envelopes:get', 'history', [of, '--history']);
    await run('events:replay', 'forwards', [id, '--to', url]);
    await run('events:replay', 'dryRun', [id, '--to', url, '--dry-run']);
    await run('events:trigger', 'forwards', ['completed', '--to', url, '--secret-file', 'secret']);
    await run('events:trigger', 'dryRun', ['completed', '--to', url, '--dry-run']);
    await run('events:drill', 'checks', ['--to', url, '--secret-file', 'secret']);
    await run('events:drill', 'dryRun', ['--to', url, '--secret-file', 'secret', '--dry-run']);
  });

  it('validates the output of runs from a file', async () => {
    await run('bulk:template', 'path', ['rows.csv', '--template', 'tmpl_nda']);
    await run('bulk:create', 'dryRun', ['rows.csv', '--dry-run']);
    await run('bulk:create', 'rows', ['rows.csv', '--first', '1']);
    await run('bulk:resume', 'dryRun', ['--dry-run']);
    await run('bulk:resume', 'rows', ['--yes']);
    await run('bulk:list', 'list', []);
    await run('bulk:status', 'signers', []);
    await run('bulk:status', 'fields', ['--fields', 'email,state']);
    await run('bulk:export', 'rows', []);
    await run('bulk:roster', 'lines', ['rows.csv', '--template', 'tmpl_nda']);
    await run('bulk:roster', 'fields', ['rows.csv', '--template', 'tmpl_nda', '--fields', 'email,state']);
  });

  it('validates the output of the log', async () => {
    await writeFile(home.path('logged.csv'), 'email\nada@example.com\nbo@example.com\n');
    await run('bulk:create', 'rows', ['logged.csv', '--template', 'tmpl_nda']);
    await draft();
    await run('log', 'list', []);
  });

  it('matches the published schemas for templates, profiles, and the other commands', async () => {
    await run('templates:list', 'list', []);
    await run('templates:get', 'template', ['tmpl_lease']);
    await run('profiles:list', 'list', []);
    await run('profiles:show', 'settings', []);
    await run('profiles:edit', 'profile', ['sandbox', '--no-path-style']);
    await run('profiles:edit', 'profile', ['sandbox', '--path-style']);
    const words = ['other', '--base-url', 'http://127.0.0.1:9', '--api-key-command', 'true', '--no-verify'];
    await run('profiles:add', 'profile', words);
    await run('profiles:use', 'profile', ['other']);
    await run('profiles:use', 'profile', ['sandbox']);
    await run('profiles:remove', 'dryRun', ['other', '--dry-run']);
    await run('profiles:remove', 'profile', ['other', '--yes']);
    await run('doctor', 'report', []);
    await run('api', 'reply', ['/esign/templates']);
    await run('api', 'dryRun', ['POST', '/esign/envelopes', '--dry-run']);
    await run('autocomplete', 'script', ['bash']);
    const input = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';
    await check('mcp', 'messages', (await home.run(argv`mcp --json`, { input })).stdout);
    await run('sandbox:mails', 'list', []);
    await writeFile(home.path('seed.json'), JSON.stringify({ templates: [{ id: 'tmpl_x', name: 'X' }] }));
    await run('sandbox:seed', 'result', ['seed.json']);
    const program = ['node', '-e', 'console.log("{}")'];
    const executed = await home.run`sandbox exec --json -- ${program}`;
    await check('sandbox:exec', 'command', executed.stdout);
    await run('sandbox:advance', 'now', ['2h']);
    const demo = await run('demo', 'end', ['--dir', 'demo']);
    expect(parseJson(demo)).toMatchObject({ status: 'COMPLETED', webhooks: { received: 6, verified: 6 } });
    expect(await readdir(home.path('demo'))).toHaveLength(4);
    await run('sandbox:reset', 'dryRun', ['--dry-run']);
    await run('sandbox:reset', 'done', ['--yes']);
  });

  it('validates the output of an error', async () => {
    const valid = ajv.compile({ $ref: 'error.json' });
    for (const words of [
      ['envelopes', 'get', 'nope'],
      ['envelopes', 'create', '--template', 'tmpl_nda', '--signer', 'a@b.c', '--expires-in-days', '9999'],
      ['envelopes', 'list', '--status', 'SNET'],
    ]) {
      const finished = await home.run`${words} --json`;
      const error = reportedError(finished);
      expect(error.exitCode).toBe(finished.code);
      expect(valid({ error }), `${ajv.errorsText(valid.errors)}\n${finished.stderr}`).toBe(true);
    }
  });
});
