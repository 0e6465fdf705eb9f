import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/kernel/json.ts';
import { Home, jsonLines, reportedError } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { fakeService } from '../support/fake-service.ts';
import { json } from '../support/server.ts';

const home = new Home();
let apiKey: string;
beforeAll(async () => {
  ({ apiKey } = await home.sandbox());
});

async function entries(...words: string[]): Promise<Record<string, unknown>[]> {
  const list = await home.json(['log', ...words]);
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

const CREATE = [
  'envelopes',
  'create',
  '--template',
  'tmpl_nda',
  '--signer',
  'Ada Canary <ada@canary.example>',
];

async function created(...words: string[]): Promise<string> {
  return String((await home.object([...CREATE, ...words])).id);
}

describe('the log of writes', () => {
  it('has an entry for each write, with the effect of the call and without its text', async () => {
    const id = await created('--subject', 'canary-subject', '--message', 'canary-message');
    await home.json`envelopes send ${id}`;
    await home.run`api POST /esign/envelopes/${id}/send`;
    const reason = `Wrong salary of ada@canary.example, ${apiKey}`;
    await home.run(['envelopes', 'cancel', id, '--reason', reason, '--yes']);
    const facts = { profile: 'sandbox', envelopeIds: [id], outcome: 'done', error: null };
    expect(await entries('--envelope', id)).toMatchObject([
      { ...facts, command: 'envelopes create', effect: 'writes' },
      { ...facts, command: 'envelopes send', effect: 'mails' },
      { ...facts, command: 'api', effect: 'mails', outcome: 'refused', error: 'INVALID_STATE' },
      {
        ...facts,
        command: 'envelopes cancel',
        effect: 'mails',
        reason: 'Wrong salary of [address], [redacted]',
      },
    ]);
    const { stdout } = await home.run`envelopes get ${id} --history`;
    expect(stdout).toMatch(/UTC {2}.*(ago|just now) +canceled: Wrong salary of \[address\], \[redacted\]/);
    expect(await entries('--since', '2020-01-01')).toEqual(await entries());
    expect(await entries('--since', '2090-01-01')).toEqual([]);
    const folder = home.path('state', 'log');
    for (const name of await readdir(folder))
      expect(await readFile(`${folder}/${name}`, 'utf8')).not.toMatch(/canary/i);
  });

  it('has a single entry for a run, which is found by each of its envelopes', async () => {
    await writeFile(home.path('rows.csv'), 'template_id,email\ntmpl_nda,a@b.cd\ntmpl_nda,c@d.ef\n');
    const { stdout } = await home.run`bulk create rows.csv --send --yes --json`;
    const ids = jsonLines(stdout).map((line) => (isRecord(line) ? String(line.envelopeId) : ''));
    const [entry] = await entries('--envelope', ids[1] ?? '');
    expect(entry).toMatchObject({ command: 'bulk create', effect: 'mails', outcome: 'done' });
    expect([entry?.envelopeIds].flat().sort()).toEqual(ids.sort());
  });

  it('shows only its own envelopes for each part of a run', async () => {
    await writeFile(home.path('rows.csv'), 'email\nx@b.cd\n');
    await home.run`bulk create rows.csv --template tmpl_nda --send --yes`;
    await writeFile(home.path('rows.csv'), 'email\nx@b.cd\ny@b.cd\nz@b.cd\n');
    const idsIn = ({ stdout }: { stdout: string }) =>
      jsonLines(stdout).flatMap((line) =>
        isRecord(line) && line.status !== 'EXISTING' ? [line.envelopeId] : [],
      );
    const first = idsIn(
      await home.run`bulk create rows.csv --template tmpl_nda --send --first 1 --yes --json`,
    );
    const rest = idsIn(await home.run`bulk resume --yes --json`);
    expect([first.length, rest.length]).toEqual([1, 1]);
    expect((await entries()).slice(-2).map(({ envelopeIds }) => envelopeIds)).toEqual([first, rest]);
  });

  it('includes writes of api, and has no address in the ID of a request', async () => {
    const signers = [{ email: 'a@b.cd', name: 'A' }];
    const body = { templateId: 'tmpl_nda', signers, metadata: { esignRequestId: 'a@b.cd' } };
    await writeFile(home.path('body'), JSON.stringify(body));
    await home.json`api POST /esign/envelopes --body body`;
    expect((await entries()).at(-1)).toMatchObject({
      command: 'api',
      effect: 'writes',
      requestId: null,
      envelopeIds: [expect.stringMatching(/^env_/)],
    });
  });

  it('skips a line that is damaged, and entries after it stay', async () => {
    await created();
    const folder = home.path('state', 'log');
    const [name = ''] = await readdir(folder);
    const path = `${folder}/${name}`;
    const before = await readFile(path, 'utf8');
    // A process was killed while it wrote a line.
    await writeFile(path, `${before}\n{"type":"intent","id":"log_torn`);
    const id = await created();
    const { stdout } = await home.run`log --envelope ${id} -q`;
    expect(stdout).toMatch(/^log_\w+\n$/);
    await writeFile(path, before);
  });

  it('is complete when several processes write at the same time', async () => {
    const before = (await entries()).length;
    const ends = await Promise.all(
      ['one', 'two', 'three'].map((id) => home.start([...CREATE, '--request-id', id, '-q']).ended),
    );
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
    const added = (await entries()).slice(before);
    expect(added.map(({ outcome }) => outcome)).toEqual(['done', 'done', 'done']);
  });
});

describe('without an entry', () => {
  it('nothing is sent', async () => {
    const own = new Home();
    const service = await fakeService((_request, response) =>
      json(response, 200, { data: { id: 'env_1', status: 'SENT' } }),
    );
    Object.assign(own.env, service.env, { ESIGN_NO_INDEX: '1' });
    // The folder of the log can't be created.
    await mkdir(own.path('state'));
    await writeFile(own.path('state', 'log'), '');
    const failed = await own.run`api POST /esign/envelopes/env_1/cancel --json`;
    expect([reportedError(failed).code, service.server.seen]).toEqual(['USAGE', []]);
  });
});

describe('a write whose process is killed', () => {
  it('has an unknown outcome', async () => {
    const own = new Home();
    let asked = false;
    const service = await fakeService(() => {
      asked = true;
    });
    Object.assign(own.env, service.env);
    const running = own.start`api POST /esign/envelopes/env_1/cancel`;
    await eventually(() => expect(asked).toBe(true));
    await running.stop('SIGKILL');
    expect(await own.json`log`).toMatchObject([
      { command: 'api', effect: 'mails', envelopeIds: ['env_1'], outcome: 'unknown' },
    ]);
  });
});
