import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseJson } from '../../src/kernel/json.ts';
import { envelope, HEADERS, Notes, page, signer, template } from './rig.ts';

let notes: Notes;
beforeEach(() => {
  notes = new Notes();
});
afterEach(() => notes.close());

const ONE = 'GET /esign/envelopes/env_1';
const LIST = 'GET /esign/envelopes';

/** The subject of each contradiction. */
async function contradictions(): Promise<string[]> {
  const report = await notes.report();
  return report.contradictions.map(({ what }) => what.replace(/ (is|has) .*|;.*/, ''));
}

async function seenOf(point: string): Promise<string[] | undefined> {
  const { openPoints } = await notes.report();
  return openPoints.find(({ what }) => what.split(':')[0] === point)?.seen;
}

describe('a documented value', () => {
  it.each([
    ['missing', { subject: undefined }],
    ['null', { subject: null }],
    ['a number', { subject: 4 }],
  ])('contradicts the document when it is %s', async (_form, more) => {
    notes.reply(ONE, { data: parseJson(JSON.stringify(envelope(more))) });
    expect(await contradictions()).toEqual(['Envelope.subject']);
  });

  it.each(['2026-03-01T09:30:00Z', '2026-03-01T09:30:00.123456Z'])(
    'accepts the timestamp %s',
    async (createdAt) => {
      notes.reply(ONE, { data: envelope({ createdAt }) });
      expect(await contradictions()).toEqual([]);
    },
  );

  it.each(['2026-03-01T10:30:00+01:00', '2026-03-01T09:30:00', '2026-03-01', '1772359800', '', 'yesterday'])(
    'contradicts the document as the timestamp "%s"',
    async (createdAt) => {
      notes.reply(ONE, { data: envelope({ createdAt }) });
      expect(await contradictions()).toEqual(['Envelope.createdAt']);
    },
  );

  it('contradicts the document inside a list and a nested object', async () => {
    notes.reply(
      LIST,
      page([envelope(), envelope({ signers: [signer(), signer({ order: '2' })] })], { total: '2' }),
    );
    expect(await contradictions()).toEqual(['Pagination.total', 'Signer.order']);
  });

  it('counts each response once and records the first time', async () => {
    const at = Date.parse('2026-03-01T09:30:00Z');
    await notes.close();
    notes = new Notes(() => at);
    const item = envelope({ signers: [signer({ order: '1' }), signer({ order: '2' })] });
    for (let reply = 0; reply < 3; reply++) notes.reply(LIST, page([item, item]));
    const { contradictions: found } = await notes.report();
    expect(found).toMatchObject([{ times: 3, since: '2026-03-01T09:30:00Z' }]);
  });

  it('names a status that is not documented', async () => {
    notes.reply(ONE, { data: envelope({ status: 'ARCHIVED' }) });
    const { contradictions: found } = await notes.report();
    expect(found[0]?.what).toContain('ARCHIVED');
  });
});

describe('what the document does not mention', () => {
  it('reports a property that the document does not mention as an open point', async () => {
    notes.reply(
      ONE,
      { data: envelope({ archived: true }) },
      { headers: { ...HEADERS, 'x-request-id': 'r1' } },
    );
    notes.reply(ONE, { error: { code: 'LOCKED', message: 'x' } }, { status: 423 });
    const { openPoints, contradictions: found } = await notes.report();
    const whats = openPoints.map(({ what }) => what);
    expect(whats).toEqual(expect.arrayContaining(['Envelope.archived', 'the header x-request-id']));
    expect(whats.some((what) => what.includes('LOCKED'))).toBe(true);
    expect(found).toEqual([]);
  });

  it('reports unknown statuses of signers and types of fields as open points', async () => {
    notes.reply(ONE, { data: envelope({ signers: [signer({ status: 'OPENED' })] }) });
    const field = { fieldId: 'f1', type: 'STAMP', label: 'x', required: true, page: 1 };
    notes.reply('GET /esign/templates/tmpl_1', { data: template({ fields: [field] }) });
    expect(await seenOf('signer-statuses')).toEqual(['OPENED']);
    expect(await seenOf('TemplateField.type')).toEqual(['STAMP']);
    expect(await contradictions()).toEqual([]);
  });
});

describe('headers and statuses', () => {
  it('contradict the document if a header is missing or has another form, or the status differs', async () => {
    const { 'x-ratelimit-limit': _limit, ...headers } = HEADERS;
    notes.reply(ONE, { data: envelope() }, { headers: { ...headers, 'x-ratelimit-reset': '900' } });
    notes.reply('POST /esign/envelopes', { data: envelope() });
    notes.reply(ONE, { error: { code: 'INVALID_STATE', message: 'x' } }, { status: 409 });
    expect((await contradictions()).sort()).toEqual([
      'INVALID_STATE',
      'X-RateLimit-Limit',
      'X-RateLimit-Reset',
      'status 200 of POST /esign/envelopes',
    ]);
  });

  it('may be missing on the response to an invalid key', async () => {
    const headers = { 'content-type': 'application/json' };
    notes.reply(ONE, { error: { code: 'UNAUTHORIZED', message: 'x' } }, { status: 401, headers });
    expect(await contradictions()).toEqual([]);
  });
});

describe('a response of another program', () => {
  const strange = { error: { code: 'NO_UPSTREAM', message: 'x' } };
  const json = { 'content-type': 'application/json' };
  it.each([
    ['a redirect', 302, undefined, { location: 'https://login.example' }],
    ['unrelated JSON', 200, { status: 'ok' }, json],
    ['a gateway error', 502, strange, json],
    ['a proxy authentication request', 407, strange, json],
    ['an error without a code', 403, { error: { message: 'blocked' } }, json],
    ['an error that is a string', 403, { error: 'blocked' }, json],
  ])('is not recorded: %s', async (_what, status, body, headers) => {
    notes.reply(ONE, body, { status, headers });
    const { documented, openPoints, contradictions: found } = await notes.report();
    expect([...documented, ...openPoints, ...found]).toEqual([]);
  });
});

describe('the record', () => {
  it('contains none of the values', async () => {
    const canary = (name: string) => `canary ${name}`;
    const body = envelope({
      id: 'env_canary',
      ...Object.fromEntries(
        ['templateId', 'templateName', 'status', 'signingOrder', 'subject', 'webhookUrl', 'createdAt'].map(
          (name) => [name, canary(name)],
        ),
      ),
      message: 'CANARY_MESSAGE',
      metadata: { canaryKey: 'CANARY_VALUE' },
      documentStorageKey: 'esign/envelopes/org_canary/env_canary/document.pdf',
      'canary@example.com': 1,
      env_canary: { canary: 'x' },
      'canary 1': 'x',
      signers: [
        signer({ id: 'signer_canary', email: 'canary@example.com', name: 'CANARY', role: 'CANARY_ROLE' }),
        signer({ status: 'canary', signedAt: 'canary', declineReason: 'CANARY_REASON', order: 'canary' }),
      ],
    });
    const headers = { ...HEADERS, 'x-ratelimit-reset': 'canary', 'x-trace': 'canary', 'x-canary-1': 'x' };
    notes.reply('GET /esign/envelopes/env_canary?q=canary', { data: body }, { headers });
    notes.reply(LIST, page([body], { total: 'canary' }));
    const details = { canaryField: ['CANARY'] };
    notes.reply(
      'GET /esign/canary',
      { error: { code: 'NOT_FOUND', message: 'CANARY', details } },
      { status: 404 },
    );
    notes.reply(ONE, { error: { code: 'canary-1', message: 'CANARY', details } }, { status: 400 });
    notes.recorder.seeWebhook({
      verified: true,
      duplicate: false,
      body: {
        event: 'envelope.canary',
        timestamp: 'canary',
        data: { envelopeId: 'env_canary', canary: 'CANARY' },
      },
      ...{ event: 'envelope.canary', envelopeId: 'env_canary', status: 'CANARY' },
      headers: [['x-service-signature', 'canary']],
    });
    expect((await notes.report()).contradictions.length).toBeGreaterThan(5);
    expect(readFileSync(notes.path, 'utf8')).not.toMatch(/canary/i);
  });

  it('is private, and small whatever the service sends', async () => {
    const letters = (index: number) =>
      String(index).replaceAll(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '');
    for (let index = 0; index < 3_000; index++)
      notes.reply(ONE, { data: envelope({ [`extra${letters(index).padEnd(35, 'x')}`]: index, subject: 4 }) });
    expect(await contradictions()).toContain('Envelope.subject');
    const { mode, size } = statSync(notes.path);
    expect(size).toBeLessThanOrEqual(256 * 1024);
    expect(mode & 0o777).toBe(0o600);
    expect(statSync(dirname(notes.path)).mode & 0o777).toBe(0o700);
  });

  it.each(['', '{', '[]', '{"format":1,"places":[]}', '{"format":"x"}'])(
    'starts from scratch if the file is %s',
    async (text) => {
      mkdirSync(dirname(notes.path), { mode: 0o700 });
      writeFileSync(notes.path, text);
      notes.reply(ONE, { data: envelope() });
      expect((await notes.report()).documented.length).toBeGreaterThan(10);
    },
  );

  it('leaves a record of a newer format unchanged', async () => {
    mkdirSync(dirname(notes.path), { mode: 0o700 });
    writeFileSync(notes.path, '{"format":2,"shapes":[]}');
    chmodSync(notes.path, 0o600);
    notes.reply(ONE, { data: envelope() });
    await notes.recorder.write();
    expect(readFileSync(notes.path, 'utf8')).toBe('{"format":2,"shapes":[]}');
  });

  it('appends a line, and rewrites a file that has become long', async () => {
    notes.reply(ONE, { data: envelope({ subject: null }) });
    await notes.recorder.write();
    const first = readFileSync(notes.path, 'utf8');
    let times = 1;
    const add = async () => {
      notes.reply(ONE, { data: envelope({ subject: null }) });
      await notes.recorder.write();
      times += 1;
    };
    await add();
    expect(readFileSync(notes.path, 'utf8').split('\n')).toEqual([first, expect.any(String)]);
    while (statSync(notes.path).size > first.length * 1.5) await add();
    expect(readFileSync(notes.path, 'utf8')).not.toContain('\n');
    expect(times * first.length).toBeLessThan(256 * 1024);
    expect((await notes.report()).contradictions).toMatchObject([{ times }]);
  });

  it('skips a line that another process left incomplete', async () => {
    notes.reply(ONE, { data: envelope({ subject: null }) });
    await notes.recorder.write();
    writeFileSync(notes.path, '\n{"format":1,"places":{"Envelo', { flag: 'a' });
    notes.reply(ONE, { data: envelope({ subject: null }) });
    expect((await notes.report()).contradictions).toMatchObject([{ times: 2 }]);
  });

  it('adds up what two processes saw', async () => {
    const other = new Notes();
    Object.defineProperty(other, 'path', { value: notes.path });
    notes.reply(ONE, { data: envelope({ subject: null }) });
    await notes.recorder.write();
    notes.reply(ONE, { data: envelope({ subject: null }) });
    expect((await notes.report()).contradictions).toMatchObject([{ times: 2 }]);
    await other.close();
  });
});
