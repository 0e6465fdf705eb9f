import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readEvents } from '../../src/webhooks/journal/event-journal.ts';
import { Home, reportedError } from '../support/cli.ts';
import { canMount, needsInjection } from '../support/disk-faults.ts';
import { payload, post } from '../support/webhooks.ts';

/* What a listener guarantees about its journal, and what it reports when it can't write it. */
const home = new Home();
afterAll(() => home.close());

const LISTEN = 'listen --port 0 --no-verify --json'.split(' ');
/** One thread for the disk, so that its calls are ordered; strace runs detached (-D), so that signals reach the listener. */
const env = { UV_THREADPOOL_SIZE: '1' };

describe('a state folder that cannot be written', () => {
  it.each(['below a file', 'of the system'])(
    'makes listen exit with 2 and a plain message: %s',
    async (kind) => {
      await writeFile(home.path('file'), '');
      const folder = kind === 'below a file' ? home.path('file', 'state') : '/sys/esign';
      const run = await home.run(LISTEN, { env: { ESIGN_STATE_DIR: folder } });
      const error = reportedError(run);
      expect([run.code, error.code]).toEqual([2, 'USAGE']);
      expect(error.message).toMatch(/: (permission denied|part .* not a folder)/);
    },
  );
});

describe('a temporarily full disk', needsInjection, () => {
  it('is reported with its cause; deliveries are stored when they are sent again', async () => {
    // The first is that of the file's first line, the second that of a delivery.
    const under =
      'strace -D -f -qq --seccomp-bpf -o /dev/null -e trace=fdatasync --inject=fdatasync:error=ENOSPC:when=3..5'.split(
        ' ',
      );
    const state = home.path('full');
    const listening = home.start(LISTEN, { under, env: { ...env, ESIGN_STATE_DIR: state } });
    const { url } = await listening.object();
    await listening.object();
    const answers = [];
    for (const n of [1, 2, 2, 2, 2, 3]) answers.push(await post(url, payload(`env_${n}`)));
    expect(answers).toEqual([200, 500, 500, 500, 200, 200]);
    const lines = [];
    while (lines.length < 5) lines.push(await listening.object());
    expect(lines).toMatchObject([
      { type: 'delivery', envelopeId: 'env_1' },
      {
        type: 'warning',
        message: expect.stringMatching(/^1 delivery .* 500, .*: the disk is full/) as unknown,
      },
      { type: 'warning', message: expect.stringMatching(/3 deliveries .* 500/) as unknown },
      { type: 'delivery', envelopeId: 'env_2', duplicate: false },
      { type: 'delivery', envelopeId: 'env_3' },
    ]);
    await listening.stop();
    const kept = [];
    for await (const { envelopeId } of readEvents(join(state, 'events'))) kept.unshift(envelopeId);
    expect(kept).toEqual(['env_1', 'env_2', 'env_3']);
  });
});

describe.skipIf(!canMount)('a small disk that fills up', () => {
  it('contains each delivery that got a 200, and no other, even with truncated lines', async () => {
    const state = home.path('small');
    await mkdir(state);
    const mount = 'mount -t tmpfs -o size=128k none "$0" && exec "$@"';
    const under = ['unshare', '-Urm', 'bash', '-c', mount, state];
    const listening = home.start(LISTEN, { under, env: { ESIGN_STATE_DIR: state } });
    const { url } = await listening.object();
    // The disk as the listener sees it.
    const disk = `/proc/${listening.child.pid}/root${state}`;
    await writeFile(`${disk}/filler`, Buffer.alloc(64 * 1024));
    const taken: string[] = [];
    let [answer, n] = [200, 0];
    const send = async () => {
      const body = payload(`env_${n++}`, 'envelope.sent', { filler: 'x'.repeat(2_500) });
      answer = await post(url, body);
      if (answer === 200) taken.push(body);
    };
    while (answer === 200) await send();
    for (let more = 0; more < 3; more++) await send();
    expect(answer).toBe(500);
    await rm(`${disk}/filler`);
    for (let more = 0; more < 3; more++) await send();
    expect(answer).toBe(200);
    const kept: string[] = [];
    for await (const { bodyBase64 } of readEvents(`${disk}/events`))
      kept.push(Buffer.from(bodyBase64, 'base64').toString());
    await listening.stop();
    expect(kept.toSorted()).toEqual(taken.toSorted());
    expect(taken.length).toBeGreaterThan(6);
  });
});

describe('a 200', needsInjection, () => {
  it('is sent after the delivery is on disk', async () => {
    const trace = home.path('trace');
    const calls = 'trace=openat,write,writev,pwrite64,fdatasync,fsync,sendto,sendmsg';
    const under = ['strace', '-D', '-f', '-qq', '-yy', '-s', '4096', '-o', trace, '-e', calls];
    const listening = home.start(LISTEN, { under, env });
    const { url } = await listening.object();
    for (const n of [1, 2, 3]) expect(await post(url, payload(`env_sync_${n}`))).toBe(200);
    await listening.stop();
    const log = (await readFile(trace, 'utf8')).split('\n');
    for (const n of [1, 2, 3]) {
      const written = log.findIndex((line) => /\.jsonl>/.test(line) && line.includes(`env_sync_${n}`));
      const synced = log.findIndex((line, at) => at > written && /fdatasync.*= 0/.test(line));
      const answered = log.findIndex((line, at) => at > written && line.includes('HTTP/1.1 200'));
      expect([written >= 0, synced > written, answered > synced]).toEqual([true, true, true]);
    }
  });
});
