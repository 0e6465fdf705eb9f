import { afterAll, describe, expect, it } from 'vitest';
import { Home, jsonLines } from '../support/cli.ts';
import { json } from '../support/server.ts';
import { payload, post } from '../support/webhooks.ts';
import { fakeService } from './fake-service.ts';

/* Waiting for an envelope in a listener is a watch: it ends like one, and survives the same failures. */
const home = new Home();
afterAll(() => home.close());

const listenFor = (id: string) => `listen --port 0 --no-verify --json --envelope ${id}`.split(' ');
const envelope = (id: string, status: string) => ({
  data: { id, status, templateId: 'tmpl_nda', signers: [{ id: 's1', email: 'a@b.c', status: 'SENT' }] },
});

describe('listen --envelope', () => {
  it('survives an outage of the service, as watch does', async () => {
    let [isAway, status] = [false, 'SENT'];
    const { server, env } = await fakeService((_, response) => {
      if (isAway) return json(response, 503, { error: { code: 'UNAVAILABLE', message: 'Back soon' } });
      return json(response, 200, envelope('env_1', status));
    });
    const listening = home.background(listenFor('env_1'), { env });
    const { url } = await listening.object();
    await listening.object();
    const watching = home.background('envelopes watch env_1 --json'.split(' '), { env });
    expect(await watching.object()).toMatchObject({ to: 'SENT' });
    isAway = true;
    // The event wakes both of them.
    expect(await post(url, payload('env_1', 'envelope.viewed'))).toBe(200);
    expect(await listening.object()).toMatchObject({ type: 'delivery' });
    const away = await listening.object();
    expect(away).toMatchObject({
      type: 'warning',
      message: expect.stringContaining('Still waiting.') as unknown,
    });
    await watching.says(/Back soon/);
    [isAway, status] = [false, 'COMPLETED'];
    expect(await post(url, payload('env_1', 'envelope.completed', { status }))).toBe(200);
    expect([await listening.ended, await watching.ended]).toEqual([
      { code: 0, signal: null },
      { code: 0, signal: null },
    ]);
    await server.close();
  });

  it.each([
    ['env_cancelled', 11, 'UNEXPECTED_STATUS'],
    ['env_missing', 4, 'NOT_FOUND'],
  ])('exits as watch does: %s', async (id, code, error) => {
    const { server, env } = await fakeService((request, response) => {
      if (request.path.endsWith('env_missing'))
        return json(response, 404, { error: { code: 'NOT_FOUND', message: 'Not found' } });
      return json(response, 200, envelope(id, 'CANCELLED'));
    });
    const listened = await home.run(listenFor(id), { env });
    const watched = await home.run(`envelopes watch ${id} --json`.split(' '), { env });
    expect([listened.code, watched.code]).toEqual([code, code]);
    for (const { stderr } of [listened, watched])
      expect(jsonLines(stderr)).toMatchObject([{ error: { code: error } }]);
    expect(jsonLines(listened.stdout).at(-1)).toMatchObject({ type: 'summary' });
    await server.close();
  });
});
