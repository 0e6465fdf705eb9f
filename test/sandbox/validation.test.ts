import { expect, test } from 'vitest';
import { ada, errorIn, startRig, twoSigners } from './rig.ts';

const create = (changes: object) => ({ ...twoSigners, ...changes });
const signer = (changes: object) => ({ ...twoSigners, signers: [{ ...ada, ...changes }] });

const WHOLE_DAYS = 'Must be a whole number from 1 to 365';

/** A body, the field that is wrong, and its message. */
const cases: [body: unknown, field: string, message: string][] = [
  [create({ signers: undefined }), 'signers', 'At least one signer is required'],
  [create({ signers: [] }), 'signers', 'At least one signer is required'],
  [create({ signers: Array(21).fill(ada) }), 'signers', 'At most 20 signers are allowed'],
  [create({ signers: {} }), 'signers', 'Must be an array'],
  [create({ signers: [7] }), 'signers.0', 'Must be an object'],
  [create({ templateId: undefined }), 'templateId', 'templateId is required'],
  [create({ templateId: 5 }), 'templateId', 'Must be a string'],
  [signer({ email: undefined }), 'signers.0.email', 'Email is required'],
  [signer({ email: 'a@b.c\r\nBcc: x@y.z' }), 'signers.0.email', 'Must be an email address'],
  [signer({ name: '  ' }), 'signers.0.name', 'Name is required'],
  [signer({ role: 'King' }), 'signers.0.role', "Must be one of the template's roles: Tenant, Landlord"],
  [signer({ order: 1.5 }), 'signers.0.order', 'Must be a whole number from 0 to 1000000'],
  [create({ metadata: [] }), 'metadata', 'Must be an object'],
  [create({ metadata: null }), 'metadata', 'Must be an object'],
  [create({ webhookUrl: 'file:///etc/passwd' }), 'webhookUrl', 'Must be an http or https URL'],
  [create({ webhookSecret: 'x'.repeat(15) }), 'webhookSecret', 'Must be at least 16 characters'],
  [create({ expiresInDays: 0 }), 'expiresInDays', WHOLE_DAYS],
  [create({ expiresInDays: '30' }), 'expiresInDays', WHOLE_DAYS],
  [create({ signingOrder: 'ANY' }), 'signingOrder', 'Must be one of SEQUENTIAL, PARALLEL'],
  [create({ sendImmediately: 'true' }), 'sendImmediately', 'Must be true or false'],
  [create({ sendImediately: true }), 'sendImediately', 'Unknown field'],
  [signer({ mail: 'x' }), 'signers.0.mail', 'Unknown field'],
  [[], 'body', 'Must be a JSON object'],
  ['null', 'body', 'Must be a JSON object'],
  ['{"templateId":', 'body', 'Must be JSON'],
];

test('An invalid body gives VALIDATION_ERROR, with details mapping a field name to a list of messages', async () => {
  const rig = await startRig();
  for (const [body, field, message] of cases) {
    const error = errorIn(await rig.api('POST', '/esign/envelopes', body));
    expect([error.is, error.details]).toEqual(['400 VALIDATION_ERROR', { [field]: [message] }]);
  }
});

test('Every wrong field is reported at the same time, and a missing body lists the required fields', async () => {
  const rig = await startRig();
  const many = errorIn(
    await rig.api('POST', '/esign/envelopes', { signers: [{}, { email: 'x' }], subject: 1 }),
  );
  expect(Object.keys(many.details ?? {}).sort()).toEqual([
    'signers.0.email',
    'signers.0.name',
    'signers.1.email',
    'signers.1.name',
    'subject',
    'templateId',
  ]);
  const none = errorIn(await rig.api('POST', '/esign/envelopes'));
  expect(Object.keys(none.details ?? {}).sort()).toEqual(['signers', 'templateId']);
});

test('The limits are allowed: 1 and 20 signers, a secret of 16, 1 and 365 days, an order of 0', async () => {
  const rig = await startRig();
  for (const body of [
    signer({ order: 0 }),
    { ...twoSigners, signers: Array(20).fill(ada) },
    { ...twoSigners, webhookSecret: 'x'.repeat(16) },
    { ...twoSigners, expiresInDays: 1 },
    { ...twoSigners, expiresInDays: 365 },
    signer({ email: 'jürgen+müller@bücher.example' }),
    signer({ email: `${'a'.repeat(64)}@a-b.example.com` }),
    signer({ email: "o'neil.x_y@xn--bcher-kva.example" }),
    JSON.stringify(twoSigners).replace(
      /}$/,
      ',"metadata":{"a":[0,-0.0,1.50,15e2,1E3,9007199254740991,0.1,1e21,5e-324],"b":"1e400 \\\\\\" 1e400"}}',
    ),
  ])
    expect((await rig.api('POST', '/esign/envelopes', body)).status).toBe(201);
});

test('cancel and remind accept an optional body and refuse an invalid one', async () => {
  const rig = await startRig();
  const { id } = await rig.create({ sendImmediately: true });
  const wrong = [
    ['cancel', { reason: 5 }, 'reason'],
    ['cancel', { because: 'x' }, 'because'],
    ['cancel', '[]', 'body'],
    ['remind', { signerId: 5 }, 'signerId'],
    ['remind', '{', 'body'],
  ] as const;
  for (const [action, body, name] of wrong) {
    const error = errorIn(await rig.api('POST', `/esign/envelopes/${id}/${action}`, body));
    expect([error.is, Object.keys(error.details ?? {})]).toEqual(['400 VALIDATION_ERROR', [name]]);
  }
  expect((await rig.get(id)).status).toBe('SENT');
  expect((await rig.api('POST', `/esign/envelopes/${id}/remind`, '')).status).toBe(200);
  expect((await rig.api('POST', `/esign/envelopes/${id}/cancel`)).status).toBe(200);
});
