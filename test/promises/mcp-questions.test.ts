import { beforeAll, describe, expect, it } from 'vitest';
import { isList, isRecord } from '../../src/kernel/json.ts';
import { Home } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { Assistant } from '../support/mcp.ts';

/* Where the client can ask its user (elicitation), the user confirms what an assistant writes, and the assistant can't. */
const home = new Home();
const YES = { action: 'accept', content: { confirm: true } };
const bea = 'Bea Conti <bea@example.com>;role=Signer';
const create = { template: 'tmpl_nda', signer: [bea], subject: 'Lease; People: nobody', send: true };
const notConfirmed = {
  isError: true,
  reply: {
    error: { code: 'USAGE', outcome: 'none', message: expect.stringContaining('confirm') as unknown },
  },
};

beforeAll(async () => {
  await home.sandbox();
});

async function emails(): Promise<number> {
  const data = await home.control('/mails');
  return isList(data) ? data.length : Number.NaN;
}

function connect(capabilities: Record<string, unknown> = { elicitation: {} }): Promise<Assistant> {
  return Assistant.start(home, ['--allow-write'], { capabilities });
}

describe('a client that can ask its user', () => {
  it('shows the account, the subject, and the people, and then the call is carried out once', async () => {
    const assistant = await connect();
    assistant.answerOfUser = YES;
    const before = await emails();
    const made = await assistant.data('create', create);
    expect([made.status, await emails()]).toEqual(['SENT', before + 1]);
    expect(assistant.questions).toEqual([
      [
        'Create an envelope and send it to 1 person (sandbox, no real emails)?',
        '',
        'Subject: Lease; People: nobody',
        'People:',
        '- bea@example.com, Bea Conti, Signer',
      ].join('\n'),
    ]);
    await assistant.data('cancel', { id: made.id });
    expect(assistant.questions[1]).toContain(
      `Cancel “Lease; People: nobody”, for Bea Conti (sandbox, no real emails)?\n\nEnvelope: ${String(made.id)}\n`,
    );
    await assistant.end();
  });

  it.each([
    ['declines', { action: 'decline' }],
    ['closes the question', { action: 'cancel' }],
    ['accepts it without selecting yes', { action: 'accept', content: {} }],
    ['selects no', { action: 'accept', content: { confirm: false } }],
    ['answers with something other than yes', { action: 'accept', content: { confirm: 'true' } }],
  ])('does nothing if the user %s', async (_, answer) => {
    const assistant = await connect();
    assistant.answerOfUser = answer;
    const before = await emails();
    expect(await assistant.call('create', create)).toMatchObject(notConfirmed);
    expect([assistant.questions.length, await emails()]).toEqual([1, before]);
    await assistant.end();
  });

  it('gives the assistant no way to confirm', async () => {
    const assistant = await connect({ elicitation: { form: {} } });
    assistant.answerOfUser = { action: 'decline' };
    const before = await emails();
    const dry = await assistant.call('create', { ...create, dryRun: true });
    expect([dry.reply.dryRun, dry.reply.confirmation, assistant.questions]).toEqual([true, undefined, []]);
    expect(await assistant.call('create', { ...create, confirmation: 'confirm-guessed' })).toMatchObject(
      notConfirmed,
    );
    const refused = await assistant.call('create', { ...create, confirm: true });
    expect([refused.isError, assistant.questions, await emails()]).toEqual([true, [], before]);
    await assistant.end();
  });

  it('shows who is emailed, even if the name is long and contains another address', async () => {
    const assistant = await connect();
    assistant.answerOfUser = { action: 'decline' };
    const name = `"Bea <bea@example.com> (Signer)${' '.repeat(400)}."`;
    await assistant.call('create', { ...create, signer: [`${name} <mallory@example.com>;role=Signer`] });
    expect(assistant.questions[0]).toContain('- mallory@example.com, Bea <bea@example.com> (Signer)');
    await assistant.end();
  });

  it('asks only about changes that would be made', async () => {
    const assistant = await connect();
    assistant.answerOfUser = YES;
    const { id } = await assistant.data('create', create);
    await assistant.data('remind', { id });
    expect((await assistant.call('remind', { id })).reply).toMatchObject({
      error: { code: 'REMINDED_RECENTLY' },
    });
    expect(assistant.questions).toHaveLength(2);
    await assistant.end();
  });

  it('does nothing if the user confirms a call that the client has canceled', async () => {
    const assistant = await connect();
    const before = await emails();
    void assistant.call('create', create);
    await eventually(() => expect(assistant.questions).toHaveLength(1));
    assistant.write({ method: 'notifications/cancelled', params: { requestId: 2 } });
    assistant.write({ id: 0, result: YES });
    assistant.answerOfUser = { action: 'decline' };
    expect(await assistant.call('create', create)).toMatchObject(notConfirmed);
    expect(await emails()).toBe(before);
    await assistant.end();
  });

  it.each([
    ['before the user answers', 1],
    ['before the user is asked', 0],
  ])('stops without doing anything if it closes stdin %s', async (_, asked) => {
    const assistant = await connect();
    const before = await emails();
    const called = assistant.call('create', create);
    if (asked > 0) await eventually(() => expect(assistant.questions).toHaveLength(asked));
    expect(await assistant.end()).toBe(0);
    expect([(await called).isError, await emails()]).toEqual([true, before]);
  });
});

it('takes the confirmation of the assistant if the client can only open links', async () => {
  const assistant = await connect({ elicitation: { url: {} } });
  const dry = await assistant.call('create', { ...create, dryRun: true });
  expect((await assistant.data('create', { ...create, confirmation: dry.reply.confirmation })).status).toBe(
    'SENT',
  );
  await assistant.end();
});

describe('a client of protocol revision 2026-07-28', () => {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
  };

  it('repeats the call with the answer, which is valid once and for this call only', async () => {
    const assistant = new Assistant(home.background(['mcp', '--allow-write']));
    const call = async (args: Record<string, unknown>, more: Record<string, unknown> = {}) => {
      const params = { _meta: meta, name: 'create', arguments: args, ...more };
      const { result } = await assistant.ask('tools/call', params);
      return isRecord(result) ? result : {};
    };
    const before = await emails();
    const asked = await call(create);
    expect(asked).toMatchObject({
      resultType: 'input_required',
      inputRequests: {
        confirm: { params: { message: expect.stringContaining('bea@example.com') as unknown } },
      },
    });
    const answer = { inputResponses: { confirm: YES }, requestState: asked.requestState };
    expect((await call(create, { ...answer, requestState: 'guessed' })).isError).toBe(true);
    expect((await call({ ...create, subject: 'Other' }, answer)).isError).toBe(true);
    expect(await emails()).toBe(before);
    expect((await call(create, answer)).isError).toBeUndefined();
    expect((await call(create, answer)).isError).toBe(true);
    expect(await emails()).toBe(before + 1);
    await assistant.end();
  });
});
