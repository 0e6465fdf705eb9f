import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { startReceiver } from './receiver.ts';
import { type Reply, type Rig, request, startRig } from './rig.ts';

const root = join(import.meta.dirname, '../..');
const object = z.record(z.string(), z.unknown());
const documentSchema = z.looseObject({
  paths: z.record(z.string(), object),
  components: z.looseObject({ schemas: object }),
});
const content = z.object({ 'application/json': z.object({ schema: object }) });
const operationSchema = z.looseObject({
  requestBody: z.looseObject({ content }).optional(),
  responses: z.record(
    z.string(),
    z.looseObject({ content: content.optional(), $ref: z.string().optional() }),
  ),
});
const read = async (name: string) =>
  documentSchema.parse(parse(await readFile(join(root, 'contract', name), 'utf8')));
const control = await read('sandbox-openapi.yaml');
const operations = new Map<string, z.infer<typeof operationSchema>>(
  Object.entries(control.paths).flatMap(([path, item]) =>
    Object.entries(item).map(
      ([method, value]) => [`${method.toUpperCase()} ${path}`, operationSchema.parse(value)] as const,
    ),
  ),
);

/** The violations of a response or a body. */
async function judge(): Promise<(schema: Record<string, unknown>, value: unknown) => string[]> {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true, allErrors: true });
  for (const keyword of ['components', 'x-not-shown', 'example']) ajv.addKeyword(keyword);
  addFormats(ajv);
  const api = await read('openapi.yaml');
  ajv.addSchema({
    $id: 'https://contract.invalid/openapi.yaml',
    components: { schemas: api.components.schemas },
  });
  ajv.addSchema({
    $id: 'https://contract.invalid/sandbox-openapi.yaml',
    components: { schemas: control.components.schemas },
  });
  return (schema, value) => {
    const text = JSON.stringify(schema).replaceAll('"#/', '"https://contract.invalid/sandbox-openapi.yaml#/');
    const whole = object.parse(
      JSON.parse(text.replaceAll('"openapi.yaml#/', '"https://contract.invalid/openapi.yaml#/')),
    );
    const validate = ajv.compile(whole);
    return validate(value)
      ? []
      : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
}

const withoutNames = (operation: string) => operation.replaceAll(/\{\w+\}|:\w+/g, '{}');

test('Every control route is described, and nothing else', async () => {
  const folder = join(root, 'src/sandbox/service/control');
  const sources = await Promise.all(
    (await readdir(folder)).map((file) => readFile(join(folder, file), 'utf8')),
  );
  const routes = [...sources.join('\n').matchAll(/\bapp\.(get|post|delete|put|patch)\('([^']+)'/g)].map(
    ([, method = '', path = '']) => withoutNames(`${method.toUpperCase()} ${path}`),
  );
  expect(routes.length).toBeGreaterThan(15);
  expect([...operations.keys()].map(withoutNames).sort()).toEqual(routes.sort());
});

test('Every operation responds as described, and accepts the described body', async () => {
  const problemsOf = await judge();
  const rig = await startRig();
  const met = new Set<string>();
  const call = async (
    operation: string,
    names: Record<string, string> = {},
    body?: unknown,
  ): Promise<Reply> => {
    const described = operations.get(operation);
    if (described === undefined) throw new Error(`${operation} is not described`);
    const [method = '', path = ''] = operation.split(' ');
    const target =
      path.replaceAll(/\{(\w+)\}/g, (_, name: string) => names[name] ?? '') + (names.query ?? '');
    const bodySchema = described.requestBody?.content['application/json'].schema;
    if (body !== undefined)
      expect([operation, problemsOf(bodySchema ?? { not: {} }, body)]).toEqual([operation, []]);
    const reply = await rig.control(method, target, body);
    const response = described.responses[String(reply.status)];
    if (response === undefined)
      throw new Error(`${operation}: ${reply.status} is not described: ${reply.text}`);
    const schema = response.content?.['application/json'].schema;
    expect([operation, schema === undefined ? reply.text : problemsOf(schema, reply.body).join()]).toEqual([
      operation,
      '',
    ]);
    met.add(operation);
    return reply;
  };
  await everything(rig, call);
  expect([...operations.keys()].filter((operation) => !met.has(operation))).toEqual([]);
  const refused = problemsOf(
    { $ref: 'openapi.yaml#/components/schemas/Error' },
    (await rig.control('POST', '/seed', { x: 1 })).body,
  );
  expect(refused).toEqual([]);
});

async function everything(
  rig: Rig,
  call: (operation: string, names?: Record<string, string>, body?: unknown) => Promise<Reply>,
): Promise<void> {
  const receiver = await startReceiver();
  const create = () => rig.create({ sendImmediately: true, webhookUrl: receiver.url });
  const ids = { envelopeId: (await create()).id };
  await call('GET /');
  await call('POST /envelopes/{envelopeId}/view', ids, { signer: 'ada@example.com' });
  await call('POST /envelopes/{envelopeId}/sign', ids);
  await call('POST /envelopes/{envelopeId}/sign', ids, { all: true });
  await call('POST /envelopes/{envelopeId}/decline', { envelopeId: (await create()).id }, { reason: 'no' });
  await call('POST /clock/advance', {}, { ms: 1000 });
  await call('GET /mails', { query: `?envelopeId=${ids.envelopeId}&to=ada@example.com&waitMs=10` });
  const listed = await call('GET /deliveries');
  const [delivery] = z.object({ data: z.array(z.object({ id: z.string() })) }).parse(listed.body).data;
  await call('POST /deliveries/{deliveryId}/replay', { deliveryId: delivery?.id ?? '' });
  await call('GET /audit', { query: '?pageSize=5' });
  await call('GET /keys');
  const made = await call('POST /keys', {}, { name: 'k', scopes: ['esign:read'], expiresAt: '2030-01-01' });
  await call('POST /keys/{keyId}/revoke', {
    keyId: z.object({ data: z.object({ id: z.string() }) }).parse(made.body).data.id,
  });
  await call('POST /faults', {}, { delay: { ms: 1, times: 1 } });
  await call('GET /faults');
  await call('DELETE /faults');
  await call(
    'POST /seed',
    {},
    {
      templates: [{ id: 'tmpl_rent', name: 'Rent', roles: ['Owner', 'Guest'], active: true }],
      keys: [{ organisation: 'acme', scopes: ['esign:read'], expiresAt: 'never' }],
      envelopes: [
        {
          id: 'env_1',
          template: 'tmpl_rent',
          status: 'SENT',
          metadata: {},
          createdAt: '9d',
          signers: [{ name: 'Ada', role: 'Owner', status: 'VIEWED' }],
        },
      ],
    },
  );
  await call('POST /reset');
}

test('GET /sandbox-openapi.yaml returns the file unchanged, without a key', async () => {
  const rig = await startRig();
  const reply = await request(`${rig.service.origin}/sandbox-openapi.yaml`, 'GET');
  expect([reply.status, reply.text]).toEqual([
    200,
    await readFile(join(root, 'contract/sandbox-openapi.yaml'), 'utf8'),
  ]);
});
