import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/kernel/json.ts';
import { Home, jsonLines, reportedError } from '../support/cli.ts';
import { canMount, onSmallDisk } from '../support/disk-faults.ts';
import { eventually } from '../support/eventually.ts';
import { fakeService } from '../support/fake-service.ts';
import { json } from '../support/server.ts';

const home = new Home();
afterAll(() => home.close());

async function entries(...words: string[]): Promise<Record<string, unknown>[]> {
  const list = await home.json(['log', ...words]);
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

async function created(...words: string[]): Promise<string> {
  const create = [
    'envelopes',
    'create',
    '--template',
    'tmpl_nda',
    '--signer',
    'Ada Canary <ada@canary.example>',
  ];
  return String((await home.object([...create, ...words])).id);
}

/** Returns a list with a row for each person. */
function rowsFor(name: string, count: number): string {
  return `email\n${Array.from({ length: count }, (_, index) => `${name}${index}@example.com\n`).join('')}`;
}

beforeAll(async () => {
  await home.sandbox();
});

describe('the log of writes', () => {
  it('has an entry for each write, with the effect of the call', async () => {
    const id = await created('--subject', 'canary-subject', '--message', 'canary-message');
    await home.json`envelopes send ${id}`;
    await home.run`envelopes send ${id}`;
    await home.run(['envelopes', 'cancel', id, '--reason', 'canary-reason']);
    const facts = { profile: 'sandbox', envelopeIds: [id], outcome: 'done', error: null };
    expect(await entries('--envelope', id)).toMatchObject([
      { ...facts, command: 'envelopes create', effect: 'writes' },
      { ...facts, command: 'envelopes send', effect: 'mails' },
      { ...facts, command: 'envelopes send', effect: 'mails', outcome: 'refused', error: 'INVALID_STATE' },
      { ...facts, command: 'envelopes cancel', effect: 'mails' },
    ]);
    expect(await entries('--since', '2020-01-01')).toEqual(await entries());
    const stored = await Promise.all(
      (await readdir(home.path('state', 'log'))).map((name) =>
        readFile(home.path('state', 'log', name), 'utf8'),
      ),
    );
    expect(stored.join('')).not.toMatch(/canary/i);
  });

  it('has a single entry for a bulk run', async () => {
    await writeFile(home.path('rows.csv'), 'template_id,email\ntmpl_nda,a@b.cd\ntmpl_nda,c@d.ef\n');
    const { stdout } = await home.run`bulk create rows.csv --send --yes --json`;
    const ids = jsonLines(stdout).map((line) => (isRecord(line) ? line.envelopeId : undefined));
    const last = (await entries()).at(-1);
    expect(last).toMatchObject({
      command: 'bulk create',
      effect: 'mails',
      outcome: 'done',
      counts: { rows: 2, created: 2, sent: 2, failed: 0 },
    });
    expect([last?.envelopeIds].flat().sort()).toEqual(ids.sort());
  });

  it('includes writes of api, and has no address in the ID of a request', async () => {
    await writeFile(
      home.path('body'),
      JSON.stringify({
        templateId: 'tmpl_nda',
        signers: [{ email: 'a@b.cd', name: 'A' }],
        metadata: { esignRequestId: 'a@b.cd' },
      }),
    );
    await home.json`api POST /esign/envelopes --body body`;
    expect((await entries()).at(-1)).toMatchObject({
      command: 'api',
      effect: 'writes',
      requestId: null,
      envelopeIds: [expect.stringMatching(/^env_/)],
    });
  });

  it('is part of the evidence of an envelope', async () => {
    const id = await created('--send');
    await home.run`envelopes evidence ${id} --dir evidence --wait 0s`;
    const lines = jsonLines(await readFile(home.path('evidence', 'log.jsonl'), 'utf8'));
    expect(lines).toMatchObject([{ command: 'envelopes create', outcome: 'done' }]);
  });
});

describe('log undo', () => {
  const entryOf = async (id: string) => String((await entries('--envelope', id))[0]?.id);

  it('cancels what an entry created, after confirmation, and is itself in the log', async () => {
    const id = await created('--send');
    const entry = await entryOf(id);
    expect(await home.run`log undo ${entry}`).toMatchObject({ code: 2 });
    expect(await home.run`log undo ${entry} --dry-run --json`).toMatchObject({ code: 0 });
    expect(await home.object`log undo ${entry} --yes`).toMatchObject({ id, status: 'CANCELLED' });
    expect((await entries()).at(-1)).toMatchObject({
      command: 'log undo',
      envelopeIds: [id],
      outcome: 'done',
    });
    expect(await home.run`log undo ${entry} --yes`).toMatchObject({ code: 5 });
  });

  it('cancels only what its entry of a run with waves sent', async () => {
    await writeFile(home.path('waves.csv'), rowsFor('wave', 4));
    await home.run`bulk create waves.csv --template tmpl_nda --send --yes --waves 2,rest`;
    await home.run`bulk resume --last`;
    const [first, second] = (await entries()).slice(-2);
    expect([first, second]).toMatchObject([
      { command: 'bulk create', counts: { created: 2, sent: 2 } },
      { command: 'bulk resume', counts: { created: 2, sent: 2 } },
    ]);
    const canceled = jsonLines((await home.run`log undo ${String(second?.id)} --yes --json`).stdout);
    expect(canceled.map((line) => isRecord(line) && line.id).sort()).toEqual(
      [second?.envelopeIds].flat().sort(),
    );
    for (const id of [first?.envelopeIds].flat())
      expect(await home.object`envelopes get ${String(id)}`).toMatchObject({ status: 'SENT' });
  });

  it('leaves what a resume sent to the entry of the resume, if the run was killed', async () => {
    await writeFile(home.path('killed.csv'), rowsFor('killed', 20));
    // After some rows, nothing arrives anymore.
    await home.faults({ reset: { match: 'POST /esign/envelopes', skip: 12 } });
    const running = home.start`bulk create killed.csv --template tmpl_nda --send --yes --concurrency 1 --json`;
    await once(running.child.stdout ?? running.child, 'data');
    await running.stop('SIGKILL');
    await home.faults({});
    await home.run`bulk resume --last`;
    const ids = (await entries()).slice(-2).map(({ envelopeIds }) => [envelopeIds].flat().map(String));
    expect(ids.map((of) => of.length > 0)).toEqual([true, true]);
    expect(ids.flat()).toHaveLength(20);
    expect(new Set(ids.flat()).size).toBe(20);
  });

  it('never touches a completed envelope, or one that was only reminded', async () => {
    const id = await created('--send');
    await home.run`envelopes remind ${id}`;
    const reminded = (await entries()).at(-1);
    expect(await home.run`log undo ${String(reminded?.id)} --yes`).toMatchObject({ code: 5 });
    await home.run`sandbox sign ${id}`;
    expect(await home.run`log undo ${await entryOf(id)} --yes`).toMatchObject({ code: 5 });
    expect((await home.object`envelopes get ${id}`).status).toBe('COMPLETED');
    expect(await home.run`log undo log_none --yes`).toMatchObject({ code: 4 });
  });
});

describe('log verify', () => {
  it('reports the entry that was changed', async () => {
    await created();
    expect(await home.object`log verify`).toMatchObject({ ok: true });
    const path = home.path('state', 'log', 'log-000001.jsonl');
    const before = await readFile(path, 'utf8');
    const first = (await entries()).find(({ command }) => command === 'envelopes create');
    await writeFile(path, before.replace('"envelopes create"', '"envelopes cancel"'));
    const finished = await home.run`log verify --json`;
    expect(finished.code).toBe(9);
    expect(reportedError(finished).message).toContain(String(first?.id));
    await writeFile(path, before);
    expect(await home.run`log verify`).toMatchObject({ code: 0 });
  });
});

describe('without an entry', () => {
  it.skipIf(!canMount)('sends nothing', async () => {
    const own = new Home();
    const service = await fakeService((_request, response) =>
      json(response, 200, { data: { id: 'env_1', status: 'SENT' } }),
    );
    try {
      Object.assign(own.env, service.env, { ESIGN_NO_INDEX: '1' });
      const words = ['api', 'POST', '/esign/envelopes/env_1/cancel', '--json'];
      const { code } = await onSmallDisk(own, own.path('state'), 4, words);
      expect(code).toBe(1);
      expect(service.server.seen).toEqual([]);
    } finally {
      await service.server.close();
      await own.close();
    }
  });

  it('leaves an unknown outcome, and loses nothing, when a process is killed', async () => {
    const own = new Home();
    let asked = false;
    const service = await fakeService(() => {
      asked = true;
    });
    try {
      Object.assign(own.env, service.env);
      const running = own.start`api POST /esign/envelopes/env_1/cancel`;
      await eventually(() => expect(asked).toBe(true));
      await running.stop('SIGKILL');
      expect(existsSync(own.path('state', 'log', 'head.json'))).toBe(true);
      expect(await own.json`log`).toMatchObject([
        { command: 'api', effect: 'mails', envelopeIds: ['env_1'], outcome: 'unknown' },
      ]);
      expect(await own.object`log verify`).toMatchObject({ ok: true, entries: 1 });
    } finally {
      await service.server.close();
      await own.close();
    }
  });
});
