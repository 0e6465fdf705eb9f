import { describe, expect, it } from 'vitest';
import type { Envelope } from '../../src/api/resource-types.ts';
import { findRequests, type LookOptions } from '../../src/once/look.ts';
import { contentOf } from '../../src/once/request-identity.ts';
import { isWantedRequest, type WantedRequest, WantedRequests } from '../../src/once/wanted-requests.ts';
import { wordingOf } from '../../src/once/wording.ts';
import { clientFor } from '../support/client.ts';
import { fakeClock } from '../support/clock.ts';
import { answerPage } from '../support/fake-service.ts';
import { json, startServer } from '../support/server.ts';

const clock = fakeClock();
const DAY = 86_400_000;
const daysAgo = (days: number) => new Date(clock.now() - days * DAY).toISOString();
const body = { templateId: 'tmpl_nda', subject: 'NDA', signers: [{ email: 'ada@example.com', name: 'Ada' }] };
const content = contentOf(body);

/** An envelope of the same content, which somebody sent yesterday under another request ID. */
function sent(id: string, more: Partial<Envelope> = {}): Envelope {
  const metadata = { esignRequestId: `of-${id}`, esignContent: content, ...more.metadata };
  return { id, status: 'SENT', createdAt: daysAgo(1), sentAt: daysAgo(1), ...body, ...more, metadata };
}

/** Looks for one request in a service with these envelopes, which its list shows as `listed` returns them. */
async function look(
  envelopes: readonly Envelope[],
  request: Partial<WantedRequest> = {},
  { listed = (one) => one, ...options }: LookOptions & { listed?: (envelope: Envelope) => unknown } = {},
) {
  const server = await startServer((asked, response) => {
    const one = envelopes.find(({ id }) => asked.path.endsWith(`/${id}`));
    if (one) return json(response, 200, { data: one });
    if (!asked.path.endsWith('/envelopes'))
      return json(response, 404, { error: { code: 'NOT_FOUND', message: 'no' } });
    answerPage(asked, response, envelopes.length, (index) => {
      const at = envelopes[index];
      return at && listed(at);
    });
  });
  const client = clientFor(server.origin, { retries: 0, clock });
  const wanted = new WantedRequests(isWantedRequest);
  const { templateId, signers } = body;
  wanted.add(1, {
    ...{ requestId: 'order-1', identity: 'content', content, templateId, signers, wording: wordingOf(body) },
    ...request,
  });
  const { found, missing } = await findRequests(client, wanted, options);
  return { found: found.get(1), missing };
}

/** The ID of the envelope that the request has. */
const idOf = async (...args: Parameters<typeof look>) => (await look(...args)).found?.envelope.id;

describe('a request without an ID', () => {
  it.each<[string, Envelope]>([
    ['a create without an ID', sent('env_1')],
    ['a run', sent('env_1', { metadata: { esignRun: 'run-1', esignRow: 1 } })],
    ['a request with an ID', sent('env_1', { metadata: { esignRequestId: 'deal 7' } })],
    ['someone whose envelope was signed', sent('env_1', { status: 'COMPLETED' })],
    ['someone whose envelope was canceled after it was sent', sent('env_1', { status: 'CANCELLED' })],
    ['someone 29 days ago', sent('env_1', { createdAt: daysAgo(29), sentAt: daysAgo(29) })],
    ['someone yesterday, as a draft of last year', sent('env_1', { createdAt: daysAgo(300) })],
    ['someone who wrote the address in capitals', sent('env_1', { signers: [{ email: 'ADA@EXAMPLE.COM' }] })],
  ])('has the envelope of the same content that was sent by %s', async (_, envelope) => {
    const isOld = envelope.createdAt === daysAgo(300);
    expect(await idOf([envelope], {}, isOld ? { since: 0 } : {})).toBe('env_1');
  });

  it.each<[string, Envelope]>([
    ['has other signers', sent('env_1', { signers: [{ email: 'bo@example.com' }] })],
    ['has other content', sent('env_1', { metadata: { esignContent: contentOf({ templateId: 'tmpl_2' }) } })],
    ['was sent 31 days ago', sent('env_1', { createdAt: daysAgo(31), sentAt: daysAgo(31) })],
    ['is a draft of someone else', sent('env_1', { status: 'DRAFT', sentAt: null })],
    ['was canceled as a draft', sent('env_1', { status: 'CANCELLED', sentAt: null })],
    ['was not created by esign', { ...sent('env_1'), metadata: {} }],
  ])('does not have an envelope that %s', async (_, envelope) => {
    expect(await idOf([envelope])).toBeUndefined();
  });

  it('compares roles where they are given', async () => {
    const signers = [{ email: 'ada@example.com', role: 'Tenant' }];
    const as = (role: string) => [sent('env_1', { signers: [{ email: 'ada@example.com', role }] })];
    expect(await idOf(as('Tenant'), { signers })).toBe('env_1');
    expect(await idOf(as('Landlord'), { signers })).toBeUndefined();
  });

  it('takes over its own draft, by the ID that each machine gives it', async () => {
    const draft = sent('env_1', { status: 'DRAFT', sentAt: null, metadata: { esignRequestId: 'order-1' } });
    expect(await idOf([draft])).toBe('env_1');
  });

  it('matches an envelope with any content if only the ID is compared', async () => {
    expect(await idOf([sent('env_1')], { identity: 'generated' })).toBeUndefined();
  });
});

describe('a replaced envelope', () => {
  const old = sent('env_1', { status: 'CANCELLED' });
  const bo = [{ email: 'bo@example.com', name: 'Bo' }];
  const made = sent('env_2', { signers: bo, metadata: { replaces: 'env_1' } });

  it('counts as its latest replacement', async () => {
    expect((await look([made, old])).found).toMatchObject({ envelope: { id: 'env_2' } });
    const canceled = { ...made, status: 'CANCELLED' };
    const third = sent('env_3', { metadata: { replaces: 'env_2' } });
    expect((await look([third, canceled, old])).found).toMatchObject({ envelope: { id: 'env_3' } });
  });

  it('is found by the corrected signer, whose replacement has the same content', async () => {
    expect(await idOf([made, old], { signers: bo })).toBe('env_2');
  });

  it('does not count as a replacement that was canceled as a draft', async () => {
    const draft = { ...made, status: 'CANCELLED', sentAt: null };
    expect((await look([draft, old])).found).toMatchObject({ envelope: { id: 'env_1' } });
  });

  it('ends the search even if two envelopes claim to replace each other', async () => {
    const loop = [
      sent('env_1', { status: 'CANCELLED', metadata: { replaces: 'env_2' } }),
      { ...made, status: 'CANCELLED' },
    ];
    expect(await idOf(loop)).toMatch(/^env_[12]$/);
  });
});

describe('a request with an ID', () => {
  const given = { identity: 'given' } as const;
  const own = (id: string, more: Partial<Envelope> = {}) =>
    sent(id, { ...more, metadata: { esignRequestId: 'order-1' } });

  it('has the envelope of the ID at any age, and none of the same content', async () => {
    expect(await idOf([own('env_1', { createdAt: daysAgo(900), sentAt: daysAgo(900) })], given)).toBe(
      'env_1',
    );
    expect(await idOf([sent('env_1')], given)).toBeUndefined();
  });

  it('uses the envelope that was sent, or the oldest draft, and reports the other drafts', async () => {
    const draft = (id: string, minutes: number) =>
      own(id, {
        status: 'DRAFT',
        sentAt: null,
        createdAt: new Date(clock.now() - minutes * 60_000).toISOString(),
      });
    const drafts = [draft('env_1', 3), draft('env_2', 9), draft('env_3', 5)];
    expect((await look(drafts, given)).found).toMatchObject({
      envelope: { id: 'env_2' },
      drafts: expect.arrayContaining(['env_1', 'env_3']) as unknown,
    });
    expect((await look([...drafts, own('env_4')], given)).found).toMatchObject({
      envelope: { id: 'env_4' },
      drafts: expect.arrayContaining(['env_1', 'env_2', 'env_3']) as unknown,
    });
  });

  it('names for whom the ID was used if the signers are others', async () => {
    const signers = [{ email: 'bo@example.com', name: 'Bo' }];
    expect((await look([own('env_1', { signers })], given)).found?.usedFor).toContain('Bo');
    expect((await look([own('env_1')], given)).found?.usedFor).toBeUndefined();
  });

  it('does not mind a list that spells templates differently or leaves out signers', async () => {
    const listed = ({ signers: _, ...one }: Envelope) => ({ ...one, templateId: 'nda@3' });
    expect((await look([own('env_1')], given, { listed })).found).toMatchObject({ usedFor: undefined });
  });

  it('has no envelope that was canceled as a draft, even if the list does not show when it was sent', async () => {
    const listed = ({ sentAt: _, ...one }: Envelope) => one;
    const canceled = own('env_1', { status: 'CANCELLED', sentAt: null });
    expect(await idOf([canceled], given, { listed })).toBeUndefined();
  });

  it('confirms what this machine remembers by reading it, and names what is not found', async () => {
    const remembered = new Map([[1, ['env_1', 'env_2', 'env_3']]]);
    const hidden = { ...own('env_1'), metadata: null };
    const { found, missing } = await look(
      [hidden, own('env_2', { status: 'CANCELLED', sentAt: null })],
      given,
      {
        remembered,
      },
    );
    expect([found?.envelope.id, missing]).toEqual(['env_1', ['env_3']]);
  });
});

it('names the wording that differs from what was sent', async () => {
  const others = { names: [{ email: 'ada@example.com', name: 'Ada Lovelace' }], message: 'Please sign' };
  const wording = wordingOf({ ...body, signers: others.names, message: others.message, expiresInDays: 9 });
  const envelope = sent('env_1', { message: 'Sign', expiresAt: daysAgo(-6), webhookUrl: null });
  expect((await look([envelope], { wording })).found?.changed).toEqual(['name', 'message', 'expiry']);
  expect((await look([sent('env_1', { message: 'Anything' })])).found?.changed).toEqual([]);
});
