import { expect, test } from 'vitest';
import { ada, errorIn, startRig, twoSigners } from './rig.ts';

const without = (name: keyof typeof twoSigners) =>
  Object.fromEntries(Object.entries(twoSigners).filter(([key]) => key !== name));

const signer = (changes: object) => ({ ...twoSigners, signers: [{ ...ada, ...changes }] });

const cases: [string, unknown, Record<string, string>][] = [
  ['no signer list', without('signers'), { signers: 'At least one signer is required' }],
  ['an empty signer list', { ...twoSigners, signers: [] }, { signers: 'At least one signer is required' }],
  [
    '21 signers',
    { ...twoSigners, signers: Array(21).fill(ada) },
    { signers: 'At most 20 signers are allowed' },
  ],
  ['signers that are not a list', { ...twoSigners, signers: {} }, { signers: 'Must be an array' }],
  ['a signer that is not an object', { ...twoSigners, signers: [7] }, { 'signers.0': 'Must be an object' }],
  ['no templateId', without('templateId'), { templateId: 'templateId is required' }],
  ['a templateId that is not a string', { ...twoSigners, templateId: 5 }, { templateId: 'Must be a string' }],
  ['no email', signer({ email: undefined }), { 'signers.0.email': 'Email is required' }],
  ['an email without @', signer({ email: 'ada' }), { 'signers.0.email': 'Must be an email address' }],
  [
    'an email without a domain',
    signer({ email: 'ada@example' }),
    { 'signers.0.email': 'Must be an email address' },
  ],
  [
    'an email with a line break',
    signer({ email: 'a@b.c\r\nBcc: x@y.z' }),
    { 'signers.0.email': 'Must be an email address' },
  ],
  ...[
    ['a zero-width space in an email', 'ada\u200b@example.com'],
    ['a right-to-left override in an email', 'ada\u202emoc.elpmaxe@x.com'],
    ['two dots in a row', 'ada..b@example.com'],
    ['a dot in front', '.ada@example.com'],
    ['a dot before the @', 'ada.@example.com'],
    ['a domain that begins with a hyphen', 'ada@-example.com'],
    ['a label that ends with one', 'ada@example-.com'],
    ['a local part of 65 characters', `${'a'.repeat(65)}@example.com`],
  ].map(([name = '', email]): [string, unknown, Record<string, string>] => [
    name,
    signer({ email }),
    { 'signers.0.email': 'Must be an email address' },
  ]),
  ['an empty name', signer({ name: '  ' }), { 'signers.0.name': 'Name is required' }],
  ['a name that is not a string', signer({ name: null }), { 'signers.0.name': 'Must be a string' }],
  [
    "a role that isn't the template's",
    signer({ role: 'King' }),
    { 'signers.0.role': "Must be one of the template's roles: Tenant, Landlord" },
  ],
  [
    'an order that is not an integer',
    signer({ order: 1.5 }),
    { 'signers.0.order': 'Must be a whole number from 0 to 1000000' },
  ],
  ['a subject that is not a string', { ...twoSigners, subject: 1 }, { subject: 'Must be a string' }],
  ['a message that is not a string', { ...twoSigners, message: [] }, { message: 'Must be a string' }],
  ['metadata that is a list', { ...twoSigners, metadata: [] }, { metadata: 'Must be an object' }],
  ['metadata that is null', { ...twoSigners, metadata: null }, { metadata: 'Must be an object' }],
  [
    'a webhookUrl of another kind',
    { ...twoSigners, webhookUrl: 'file:///etc/passwd' },
    { webhookUrl: 'Must be an http or https URL' },
  ],
  [
    'a webhookUrl that is not a URL',
    { ...twoSigners, webhookUrl: 'there' },
    { webhookUrl: 'Must be an http or https URL' },
  ],
  [
    'a webhookSecret of 15 characters',
    { ...twoSigners, webhookSecret: 'x'.repeat(15) },
    { webhookSecret: 'Must be at least 16 characters' },
  ],
  [
    'expiresInDays 0',
    { ...twoSigners, expiresInDays: 0 },
    { expiresInDays: 'Must be a whole number from 1 to 365' },
  ],
  [
    'expiresInDays as text',
    { ...twoSigners, expiresInDays: '30' },
    { expiresInDays: 'Must be a whole number from 1 to 365' },
  ],
  [
    'an unknown signingOrder',
    { ...twoSigners, signingOrder: 'ANY' },
    { signingOrder: 'Must be one of SEQUENTIAL, PARALLEL' },
  ],
  [
    'sendImmediately as text',
    { ...twoSigners, sendImmediately: 'true' },
    { sendImmediately: 'Must be true or false' },
  ],
  ['a misspelt field', { ...twoSigners, sendImediately: true }, { sendImediately: 'Unknown field' }],
  ['a misspelt signer field', signer({ mail: 'x' }), { 'signers.0.mail': 'Unknown field' }],
  ['a body that is a list', [], { body: 'Must be a JSON object' }],
  ['a body that is null', 'null', { body: 'Must be a JSON object' }],
  ['a body that is not JSON', '{"templateId":', { body: 'Must be JSON' }],
];

test('An invalid body gives VALIDATION_ERROR, with details mapping a field name to a list of messages', async () => {
  const rig = await startRig();
  for (const [name, body, details] of cases) {
    const error = errorIn(await rig.api('POST', '/esign/envelopes', body));
    const expected = Object.fromEntries(Object.entries(details).map(([key, text]) => [key, [text]]));
    expect({ name, is: error.is, details: error.details }).toEqual({
      name,
      is: '400 VALIDATION_ERROR',
      details: expected,
    });
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
