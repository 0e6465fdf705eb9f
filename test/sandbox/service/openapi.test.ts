import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import {
  ENVELOPE_STATUSES,
  EVENTS,
  SERVICE_ERROR_CODES,
  SIGNING_ORDERS,
} from '../../../src/kernel/vocabulary.ts';
import { readContract } from '../../../src/sandbox/service/web-app.ts';
import { literal, request, startRig, tempFolder } from './rig.ts';

const file = new URL('../../../contract/openapi.yaml', import.meta.url);
const text = await readFile(file, 'utf8');

/** The lines of a block-style YAML text that contain keys or list items, without the texts of block scalars. */
function* structure(yaml: string): Iterable<{ indent: number; rest: string }> {
  let scalarBelow = Number.POSITIVE_INFINITY;
  for (const line of yaml.split('\n')) {
    const rest = line.trimStart();
    const indent = line.length - rest.length;
    if (rest === '' || indent > scalarBelow) continue;
    scalarBelow = /: [|>]-?$/.test(rest) ? indent : Number.POSITIVE_INFINITY;
    yield { indent, rest };
  }
}

/** Every key with its parent keys and its scalar; list items count from 0. */
function outline(yaml: string): Map<string, string> {
  const found = new Map<string, string>();
  const open: { indent: number; key: string; items: number }[] = [];
  const enter = (indent: number, key: string, value: string) => {
    open.push({ indent, key, items: 0 });
    found.set(open.map((one) => one.key).join(' '), value);
  };
  for (const { indent, rest } of structure(yaml)) {
    while ((open.at(-1)?.indent ?? -1) >= indent) open.pop();
    const item = rest.startsWith('- ');
    const list = open.at(-1);
    if (item && list) enter(indent, String(list.items++), rest.slice(2));
    const entry = /^(?:- )?(?:"([^"]*)"|([\w$./{}-]+)):(?: (.*))?$/.exec(rest);
    if (entry) enter(indent + (item ? 2 : 0), entry[1] ?? entry[2] ?? '', entry[3] ?? '');
  }
  return found;
}

const contract = outline(text);
/** The keys directly below a path. */
const below = (path: string) =>
  [...contract.keys()]
    .filter((key) => key.startsWith(`${path} `) && !key.slice(path.length + 1).includes(' '))
    .map((key) => key.slice(path.length + 1));
const listAt = (path: string) =>
  contract.get(path) === ''
    ? below(path).map((index) => contract.get(`${path} ${index}`))
    : contract.get(path)?.replace(/[[\]]/g, '').split(', ');
const propertiesOf = (schema: string) => below(`components schemas ${schema} properties`);
const operations = below('paths').flatMap((path) =>
  below(`paths ${path}`)
    .filter((key) => key !== 'parameters')
    .map((method): [string, string] => [method.toUpperCase(), path]),
);

test('GET /openapi.yaml returns the file unchanged, without a key; other methods are 405', async () => {
  const rig = await startRig();
  const url = `${rig.service.origin}/openapi.yaml`;
  const reply = await request(url, 'GET');
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'application/yaml; charset=utf-8']);
  expect(reply.text).toBe(text);
  expect((await request(url, 'HEAD')).status).toBe(200);
  expect((await request(url, 'POST')).status).toBe(405);
});

test('The contract is found above the module at any location, and null if it is nowhere', async () => {
  const root = await tempFolder();
  const module = join(root, 'dist', 'chunks', 'service-ABC.js');
  expect(await readContract('openapi.yaml', module)).toBeNull();
  await mkdir(join(root, 'contract'));
  await writeFile(join(root, 'contract', 'openapi.yaml'), 'openapi: 3.1.0\n');
  expect(await readContract('openapi.yaml', module)).toBe('openapi: 3.1.0\n');
  expect(await readContract('openapi.yaml', join(dirname(module), 'deeper', 'x.js'))).toBe(
    'openapi: 3.1.0\n',
  );
});

test('It is OpenAPI 3.1, without tabs or broken references', () => {
  expect(contract.get('openapi')).toBe('3.1.0');
  expect(text).not.toMatch(/\t/);
  const references = [...text.matchAll(/\$ref: "#\/([^"]+)"/g)].map(([, target]) => target ?? '');
  expect(references.length).toBeGreaterThan(50);
  for (const target of references)
    expect([target, contract.has(target.replaceAll('/', ' '))]).toEqual([target, true]);
});

test('It names the eight routes, each with its scope, an operation ID, and the errors of every call', async () => {
  expect(operations).toEqual([
    ['GET', '/esign/templates'],
    ['GET', '/esign/templates/{templateId}'],
    ['GET', '/esign/envelopes'],
    ['POST', '/esign/envelopes'],
    ['GET', '/esign/envelopes/{envelopeId}'],
    ['POST', '/esign/envelopes/{envelopeId}/send'],
    ['POST', '/esign/envelopes/{envelopeId}/cancel'],
    ['POST', '/esign/envelopes/{envelopeId}/remind'],
  ]);
  const at = (method: string, path: string) => `paths ${path} ${method.toLowerCase()}`;
  const ids = operations.map(([method, path]) => contract.get(`${at(method, path)} operationId`));
  expect(new Set(ids).size).toBe(8);
  const rig = await startRig();
  const none = await rig.makeKey({ scopes: ['esign:write'] });
  const reader = await rig.makeKey({ scopes: ['esign:read'] });
  for (const [method, path] of operations) {
    const responses = below(`${at(method, path)} responses`);
    expect(responses).toEqual(expect.arrayContaining(['401', '403', '429']));
    const scope = contract.get(`${at(method, path)} x-scope`);
    const lacking = scope === 'esign:read' ? none : reader;
    const reply = await rig.api(method, path.replace(/\{\w+\}/, 'x'), undefined, lacking.key);
    expect([path, reply.status, reply.text]).toEqual([
      path,
      403,
      expect.stringContaining(scope ?? 'no scope'),
    ]);
  }
});

test('Its schemas name exactly the fields that the service sends', async () => {
  const rig = await startRig({ choices: literal });
  const { id } = await rig.create();
  const record = z.record(z.string(), z.unknown());
  const shape = z.object({ data: record });
  const dataOf = async (path: string) => shape.parse((await rig.api('GET', path)).body).data;
  const envelope = await dataOf(`/esign/envelopes/${id}`);
  const template = await dataOf('/esign/templates/tmpl_lease');
  const list = z
    .object({ meta: z.object({ pagination: record }) })
    .parse((await rig.api('GET', '/esign/envelopes')).body);
  const first = (value: unknown) => z.array(record).parse(value)[0] ?? {};
  const sent: [string, Record<string, unknown>][] = [
    ['Envelope', envelope],
    ['Signer', first(envelope.signers)],
    ['Template', template],
    ['TemplateField', first(template.fields)],
    ['Pagination', list.meta.pagination],
  ];
  for (const [schema, value] of sent) {
    const returned = propertiesOf(schema).filter((name) => name !== 'webhookSecret');
    expect([schema, returned.sort()]).toEqual([schema, Object.keys(value).sort()]);
    expect([schema, listAt(`components schemas ${schema} required`)?.toSorted()]).toEqual([
      schema,
      Object.keys(value).sort(),
    ]);
  }
});

test('Its values are those of the document, and it stays open where nothing is shown', () => {
  const schema = 'components schemas';
  expect(listAt(`${schema} EnvelopeStatus enum`)).toEqual(ENVELOPE_STATUSES);
  expect(listAt(`${schema} SigningOrder enum`)).toEqual(SIGNING_ORDERS);
  expect(listAt(`${schema} EventName enum`)).toEqual(EVENTS);
  for (const code of SERVICE_ERROR_CODES) expect(text).toContain(`${code} (`);
  expect(propertiesOf('CreateEnvelope')).toEqual([
    'templateId',
    'signers',
    'subject',
    'message',
    'metadata',
    'webhookUrl',
    'webhookSecret',
    'expiresInDays',
    'signingOrder',
    'sendImmediately',
  ]);
  for (const open of [
    `${schema} TemplateField properties type enum`,
    `${schema} Signer properties status enum`,
    `${schema} CreateEnvelope properties expiresInDays maximum`,
    `${schema} Error properties error properties code enum`,
    'components responses Done content application/json schema type',
  ])
    expect([open, contract.has(open)]).toEqual([open, false]);
  expect(listAt('components schemas EnvelopeListItem required')).toEqual(['id']);
  expect(propertiesOf('EnvelopeListItem')).toEqual(propertiesOf('Envelope'));
  // TypeScript generators make a property with a default required, also in a request body.
  const defaults = [...contract.keys()].filter((key) => /^components schemas Create\w* .*default$/.test(key));
  expect(defaults).toEqual([]);
});
