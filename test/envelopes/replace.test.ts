import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '../../src/api/client.ts';
import { executeReplacement } from '../../src/envelopes/replace/execute-replacement.ts';
import { planReplacement } from '../../src/envelopes/replace/plan-replacement.ts';
import { requestsToSign } from '../support/mails.ts';
import { memoryOf } from '../support/recording.ts';
import {
  leftFor,
  madeFor,
  type Rig,
  replaceOnce,
  requestFor,
  startRig,
  wrongOne,
} from '../support/replacing.ts';

const DAY = 86_400_000;
let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.close());

/** A client that runs a function right before this request. */
function meanwhile(
  what: 'create' | 'cancel' | 'send',
  happens: () => Promise<unknown>,
  client: Client = rig.client,
): Client {
  const { envelopes } = client;
  const then = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    if (name === what) await happens();
    return work();
  };
  return {
    ...client,
    envelopes: {
      ...envelopes,
      create: (...args) => then('create', () => envelopes.create(...args)),
      cancel: (...args) => then('cancel', () => envelopes.cancel(...args)),
      send: (...args) => then('send', () => envelopes.send(...args)),
    },
  };
}
const runWith = (client: Client, id: string, evenIfSigned = false) =>
  replaceOnce({ client, memory: rig.memory }, requestFor(id, { evenIfSigned }));
const machineOf = (machine: string) => memoryOf(`${rig.folder}/${machine}`, rig.client.clock);
const statusOf = async (id: string) => (await rig.client.envelopes.get(id)).status;

describe('events during a replacement', () => {
  it('refuses other changes if another process was first, and leaves its envelope alone', async () => {
    const { id } = await wrongOne(rig, 'SENT');
    const requests = ['First', 'Second'].map((subject) => requestFor(id, { changes: { subject } }));
    const [first = requestFor(id), second = requestFor(id)] = requests;
    const plan = await planReplacement(rig.client, second, rig.memory);
    await replaceOnce(rig, first);
    await expect(executeReplacement(plan, second, rig).next()).rejects.toMatchObject({
      code: 'INVALID_STATE',
      message: expect.stringContaining('was already replaced by') as unknown,
    });
    const made = await madeFor(rig, await rig.client.envelopes.get(id));
    expect(made).toMatchObject([{ status: 'SENT', subject: 'First' }]);
  });

  it("doesn't cancel the original if somebody signs, and continues with --even-if-signed", async () => {
    const { id } = await wrongOne(rig, 'SENT');
    const client = meanwhile('create', () => rig.control.sign(id, { signer: 'bo@example.com' }));
    await expect(runWith(client, id)).rejects.toMatchObject({
      code: 'INVALID_STATE',
      message: expect.stringContaining('Bo has already signed') as unknown,
      hint: expect.stringMatching(/--even-if-signed.*esign envelopes cancel env_/) as unknown,
    });
    expect(await statusOf(id)).toBe('IN_PROGRESS');
    const done = await runWith(rig.client, id, true);
    expect([done.old.status, done.new.status]).toEqual(['CANCELLED', 'SENT']);
    expect(await requestsToSign(rig.sandbox, done.new.id)).toEqual({
      'ada@example.com': 1,
      'bo@example.com': 1,
    });
  });

  it('counts a signer with signedAt as signed, for any status', async () => {
    const { id } = await wrongOne(rig, 'SENT');
    const { envelopes } = rig.client;
    const get = async (...args: Parameters<typeof envelopes.get>) => {
      const envelope = await envelopes.get(...args);
      const signers = (envelope.signers ?? []).map((one) => ({ ...one, signedAt: envelope.createdAt }));
      return { ...envelope, signers };
    };
    await expect(runWith({ ...rig.client, envelopes: { ...envelopes, get } }, id)).rejects.toMatchObject({
      code: 'INVALID_STATE',
    });
    expect(await statusOf(id)).toBe('SENT');
  });

  it('keeps the draft and reports it if everybody signs', async () => {
    const { id } = await wrongOne(rig, 'SENT');
    const client = meanwhile('cancel', () => rig.control.sign(id, { all: true }));
    await expect(runWith(client, id)).rejects.toMatchObject({
      code: 'INVALID_STATE',
      message: expect.stringContaining('COMPLETED') as unknown,
      hint: expect.stringContaining('esign envelopes cancel env_') as unknown,
    });
    await expect(runWith(rig.client, id, true)).rejects.toThrow('COMPLETED');
    expect((await madeFor(rig, await rig.client.envelopes.get(id))).map(({ status }) => status)).toEqual([
      'DRAFT',
    ]);
  });

  it.each([
    ['is declined', 'CANCELLED', (id: string) => rig.control.decline(id, { reason: 'no' })],
    ['expires', 'EXPIRED', () => rig.control.advance(31 * DAY)],
    ['is canceled by somebody else', 'CANCELLED', (id: string) => rig.client.envelopes.cancel(id)],
  ])('sends the replacement if the original %s', async (_, status, happens) => {
    const { id } = await wrongOne(rig, 'SENT');
    const done = await runWith(
      meanwhile('cancel', () => happens(id)),
      id,
    );
    expect([done.old.status, done.new.status]).toEqual([status, 'SENT']);
  });

  it('emails nobody twice if somebody sends the draft', async () => {
    const old = await wrongOne(rig, 'SENT');
    const client = meanwhile('send', async () => {
      const [made] = await madeFor(rig, old);
      if (made) await rig.client.envelopes.send(made.id);
    });
    const done = await runWith(client, old.id);
    expect([done.new.status, await requestsToSign(rig.sandbox, done.new.id)]).toEqual([
      'SENT',
      { 'ada@example.com': 1, 'bo@example.com': 1 },
    ]);
  });

  it('creates another draft if somebody cancels the first one', async () => {
    const old = await wrongOne(rig, 'SENT');
    const client = meanwhile('send', async () => {
      for (const made of await madeFor(rig, old)) await rig.client.envelopes.cancel(made.id);
    });
    await expect(runWith(client, old.id)).rejects.toMatchObject({
      hint: expect.stringContaining('create another') as unknown,
    });
    const done = await runWith(rig.client, old.id);
    expect([done.old.status, done.new.status]).toEqual(['CANCELLED', 'SENT']);
    expect((await madeFor(rig, old)).map(({ status }) => status).sort()).toEqual(['CANCELLED', 'SENT']);
  });
});

describe('a replaced envelope', () => {
  it.each([
    ['an active one without changes', 'SENT', 'USAGE'],
    ['a draft without changes', 'DRAFT', 'USAGE'],
  ] as const)('is not changed: %s', async (_, kind, code) => {
    const { id } = await wrongOne(rig, kind);
    await expect(replaceOnce(rig, requestFor(id, { changes: {} }))).rejects.toMatchObject({ code });
    expect(await statusOf(id)).toBe(kind);
  });
});

describe('two machines that replace the same envelope', () => {
  /** Two clients whose creates wait for each other, so that neither finds the other's draft when it plans. */
  const atTheSameTime = (): [Client, Client] => {
    const arrived: (() => void)[] = [];
    const both = () =>
      new Promise<void>((resolve) => {
        arrived.push(resolve);
        if (arrived.length === 2) for (const go of arrived) go();
      });
    const on = (machine: string) => meanwhile('create', both, rig.clientWith(machineOf(machine)));
    return [on('one'), on('other')];
  };
  const runOn = (machine: string, client: Client, id: string, to = 'ada@example.com') =>
    replaceOnce(
      { client, memory: machineOf(machine) },
      requestFor(id, { changes: { signers: [`adda@example.com=${to}`] } }),
    );

  it('email everybody once: both keep the older draft, and the younger one is canceled', async () => {
    const old = await wrongOne(rig, 'SENT');
    const [one, other] = atTheSameTime();
    const [first, second] = await Promise.all([runOn('one', one, old.id), runOn('other', other, old.id)]);
    const made = (await madeFor(rig, old)).toSorted((a, b) =>
      `${a.createdAt} ${a.id}` < `${b.createdAt} ${b.id}` ? -1 : 1,
    );
    expect(made.map(({ status }) => status)).toEqual(['SENT', 'CANCELLED']);
    expect([first.new.id, second.new.id]).toEqual([made[0]?.id, made[0]?.id]);
    expect(await requestsToSign(rig.sandbox, made[0]?.id ?? '')).toEqual({
      'ada@example.com': 1,
      'bo@example.com': 1,
    });
    expect(await requestsToSign(rig.sandbox, made[1]?.id ?? '')).toEqual({});
    expect(await statusOf(old.id)).toBe('CANCELLED');
  });

  it.each(['create', 'cancel', 'send'] as const)(
    'send one if the other one does everything before the %s of the first',
    async (step) => {
      const old = await wrongOne(rig, 'SENT');
      let isDone = false;
      const meantime = async () => {
        if (isDone) return;
        isDone = true;
        await runOn(`early-${step}`, rig.clientWith(machineOf(`early-${step}`)), old.id);
      };
      const late = rig.clientWith(machineOf(`late-${step}`));
      const done = await runOn(`late-${step}`, meanwhile(step, meantime, late), old.id);
      const sent = (await madeFor(rig, old)).filter((one) => one.status === 'SENT');
      expect(sent).toMatchObject([{ id: done.new.id }]);
      expect(await leftFor(rig, old)).toEqual(['SENT']);
      expect(await requestsToSign(rig.sandbox, done.new.id)).toEqual({
        'ada@example.com': 1,
        'bo@example.com': 1,
      });
      // The same command again does nothing.
      expect((await runOn(`late-${step}`, late, old.id)).new.id).toBe(done.new.id);
    },
  );

  it('are distinguished if their changes differ: one is sent, the other is refused', async () => {
    const old = await wrongOne(rig, 'SENT');
    const [one, other] = atTheSameTime();
    const results = await Promise.allSettled([
      runOn('a', one, old.id),
      runOn('b', other, old.id, 'ada.l@example.com'),
    ]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'INVALID_STATE' },
    });
    expect((await madeFor(rig, old)).map(({ status }) => status).sort()).toEqual(['CANCELLED', 'SENT']);
  });
});

describe('a service that stores texts in another form', () => {
  it.each<[string, (text: string) => string]>([
    ['NFC', (text) => text.normalize('NFC')],
    ['NFD', (text) => text.normalize('NFD')],
    ['with single spaces', (text) => text.replaceAll(/\s+/gu, ' ').trim()],
    ['with the line breaks of Windows', (text) => text.replaceAll('\n', '\r\n')],
  ])('is handled: after a kill, the same command continues with the draft: %s', async (form, change) => {
    const old = await wrongOne(rig, 'SENT');
    const machine = machineOf(`form-${form}`);
    const { envelopes, ...rest } = rig.clientWith(machine);
    const create: typeof envelopes.create = (body, ...more) =>
      envelopes.create(
        {
          ...body,
          subject: change(body.subject ?? ''),
          message: change(body.message ?? ''),
          signers: body.signers.map((one) => ({ ...one, name: change(one.name) })),
        },
        ...more,
      );
    const client = { ...rest, envelopes: { ...envelopes, create } };
    const changes = {
      signers: ['adda@example.com=Zoé  Müller <ada@example.com>'],
      subject: ' Mietvertrag  für\u0308 5 ',
      message: 'Bitte\nunterschreiben, Zoe\u0301. ',
    };
    const killed = {
      ...client,
      envelopes: { ...client.envelopes, cancel: () => Promise.reject(new Error('killed')) },
    };
    const request = requestFor(old.id, { changes });
    await expect(replaceOnce({ client: killed, memory: machine }, request)).rejects.toThrow('killed');
    for (const memory of [machine, machineOf(`elsewhere-${form}`)]) {
      const done = await replaceOnce({ client, memory }, request);
      expect([done.old.status, done.new.status]).toEqual(['CANCELLED', 'SENT']);
    }
    expect(await madeFor(rig, old)).toHaveLength(1);
  });
});

describe('a lagging list', () => {
  /** Shows nothing new in this many reads. */
  const lagging = (looks: number): Client => {
    const { envelopes } = rig.client;
    let count = 0;
    const page: typeof envelopes.page = async (...request) =>
      ++count > looks ? envelopes.page(...request) : { items: [], totalPages: 1 };
    return { ...rig.client, envelopes: { ...envelopes, page } };
  };

  it("doesn't hide envelopes in the local record", async () => {
    const old = await wrongOne(rig, 'SENT');
    const first = await replaceOnce(rig, requestFor(old.id, { draft: true }));
    const done = await runWith(lagging(6), old.id);
    expect(done.new.id).toBe(first.new.id);
    expect(await madeFor(rig, old)).toHaveLength(1);
  });
});

describe('a service with minimal responses', () => {
  it('is handled: its list has no metadata and its actions return no bodies', async () => {
    const little = await startRig({ 'list-items': 'summary', 'action-reply': 'empty204' });
    try {
      const { id } = await wrongOne(little, 'SENT');
      const first = await replaceOnce(little, requestFor(id, { draft: true }));
      const memory = memoryOf(`${little.folder}/other`, little.client.clock);
      const done = await replaceOnce({ client: little.clientWith(memory), memory }, requestFor(id));
      expect([done.new.id, done.old.status, done.new.status]).toEqual([first.new.id, 'CANCELLED', 'SENT']);
      expect(done.new.signers).toHaveLength(2);
    } finally {
      await little.close();
    }
  });
});
