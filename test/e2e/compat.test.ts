import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { isList, isRecord, parseJson } from '../../src/kernel/json.ts';
import { OPEN_POINTS } from '../../src/kernel/open-points.ts';
import { sign } from '../../src/webhooks/receive/signature.ts';
import { Home } from '../support/cli.ts';
import { json } from '../support/server.ts';
import { SERVICES, serviceWith } from './deviating-services.ts';
import { fakeService } from './fake-service.ts';

const home = new Home();
afterAll(() => home.close());

const folder = () => join(home.env.ESIGN_STATE_DIR ?? '', 'compatibility');
const records = () => (existsSync(folder()) ? readdirSync(folder()) : []);

async function compat(env: Record<string, string>) {
  const { code, stdout, stderr } = await home.run(['compat', '--json'], { env });
  const report = parseJson(stdout);
  if (!isRecord(report)) throw new Error(stderr);
  const listOf = (name: string) => (isList(report[name]) ? report[name].filter(isRecord) : []);
  return { code, report, contradictions: listOf('contradictions'), openPoints: listOf('openPoints') };
}

const nameOf = (what: unknown) => String(what).replace(/( (is|has|of) |[:;]).*/, '');

describe('a service that differs from its document', () => {
  it.each(SERVICES)('is described: $name', async ({ deviation, contradictions, openPoints, choices }) => {
    const { server, env } = await serviceWith(deviation);
    const run = (...words: string[]) => home.run(words, { env });
    await run('templates', 'list', '--all');
    await run('templates', 'get', 'tmpl_1');
    await run('envelopes', 'list', '--all');
    await run('envelopes', 'get', 'env_1');
    await run('envelopes', 'create', '--template', 'tmpl_1', '--signer', 'Ada <ada@example.com>');
    await run('envelopes', 'remind', 'env_1', '--yes');
    await run('api', 'POST', '/esign/envelopes/env_1/send');
    await run('envelopes', 'get', 'env_nope');
    const asked = server.seen.length;
    const seen = await compat(env);
    expect(seen.contradictions.map(({ what }) => nameOf(what)).sort()).toEqual(contradictions);
    expect(seen.code).toBe(10);
    const found = new Map(seen.openPoints.map(({ what, seen: readings }) => [nameOf(what), readings]));
    const planted = Object.keys(openPoints).filter((name) => !Object.hasOwn(OPEN_POINTS, name));
    expect(
      [...found.keys()].filter((name) => !Object.hasOwn(OPEN_POINTS, name) && name !== 'TemplateField.type'),
    ).toEqual(planted);
    for (const [point, readings] of Object.entries(openPoints)) expect(found.get(point)).toEqual(readings);
    const { code } = await run('compat', '--choices', 'choices.json');
    expect(code).toBe(0);
    const chosen = parseJson(readFileSync(home.path('choices.json'), 'utf8'));
    const possible = Object.entries(choices).filter(([, value]) => value !== 'other');
    expect(chosen).toMatchObject(Object.fromEntries(possible));
    expect(server.seen.length).toBe(asked);
    await server.close();
  });
});

describe('the record', () => {
  it('finds no contradiction in the sandbox, and its choices start a sandbox that behaves the same', async () => {
    const first = await home.sandbox(['--choice', 'list-items=summary', '--choice', 'action-reply=empty204']);
    const id = (
      await home.run`envelopes create --template tmpl_nda --signer ada@example.com --send -q`
    ).stdout.trim();
    await home.run`envelopes list --json`;
    await home.run`envelopes remind ${id} --yes`;
    await home.run`envelopes cancel ${id} --yes`;
    await home.run`envelopes get ${id}`;
    await home.run`templates list`;
    expect((await home.run`doctor`).stdout).not.toContain('compat');
    expect(await compat({})).toMatchObject({ code: 0, contradictions: [] });
    await home.run`compat --choices like.json`;
    await first.stop();
    const second = await home.sandbox(['--choices', home.path('like.json')]);
    const choices = await home.json`sandbox choices`;
    expect(choices).toContainEqual(expect.objectContaining({ name: 'list-items', value: 'summary' }));
    expect(choices).toContainEqual(expect.objectContaining({ name: 'action-reply', value: 'empty204' }));
    await second.stop();
  });

  it('can be turned off', async () => {
    const { server, env } = await serviceWith({});
    const before = records();
    await home.run(['envelopes', 'list'], { env: { ...env, ESIGN_NO_COMPAT: '1' } });
    expect(records()).toEqual(before);
    await server.close();
  });

  it('belongs to one base URL, and learns nothing from redirects', async () => {
    const { server, env } = await fakeService((_request, response) => {
      response.writeHead(302, { location: 'https://login.example.com/' }).end();
    });
    await home.run(['envelopes', 'list'], { env });
    const { code, report } = await compat(env);
    expect(code).toBe(0);
    expect(report).toMatchObject({ documented: [], openPoints: [], contradictions: [] });
    await server.close();
  });

  it('is shared without IDs, hosts, or text', async () => {
    const { server, env } = await serviceWith({ pagination: { total: '2' } });
    await home.run(['envelopes', 'list', '--json'], { env });
    for (const file of ['report.json', 'report.md']) {
      const { code, stdout } = await home.run(['compat', '--share', file], { env });
      expect(code).toBe(0);
      expect(stdout).toBe('');
      const text = readFileSync(home.path(file), 'utf8');
      expect(text).toContain('Pagination.total');
      expect(text).not.toMatch(/env_1|127\.0\.0\.1|ada@|Your lease/);
    }
    expect(parseJson(readFileSync(home.path('report.json'), 'utf8'))).toEqual((await compat(env)).report);
    await server.close();
  });

  it('is mentioned by doctor when the service contradicts the document', async () => {
    const { server, env } = await fakeService((_request, response) => {
      json(response, 200, {
        data: [],
        meta: { pagination: { page: 1, pageSize: 1, total: '0', totalPages: 0 } },
      });
    });
    const { stdout } = await home.run(['doctor'], { env });
    expect(stdout).toContain('esign compat');
    await server.close();
  });

  it('includes verified webhooks, and no others', async () => {
    const { server, env } = await serviceWith({});
    writeFileSync(home.path('secret'), 'whsec_0123456789');
    const words = ['listen', '--port', '0', '--secret-file', home.path('secret'), '--json'];
    const listener = home.background(words, { env });
    const { url } = await listener.object();
    const post = (body: string, signature: string) =>
      fetch(String(url), { method: 'POST', body, headers: { 'x-service-signature': signature } });
    const event = (name: string) =>
      JSON.stringify({ event: name, timestamp: '2026-03-01T09:30:00Z', data: {} });
    await post(event('envelope.viewed'), 'ab'.repeat(32));
    await post(event('envelope.declined'), sign(Buffer.from(event('envelope.declined')), 'whsec_0123456789'));
    await home.run(['events', 'trigger', 'expired', '--to', String(url), '--secret-file', 'secret'], { env });
    await listener.stop();
    const { report } = await compat(env);
    expect(report.documented).toContainEqual(
      expect.objectContaining({ what: 'envelope.declined', times: 1 }),
    );
    expect(report.neverSeen).toContainEqual(expect.objectContaining({ what: 'envelope.viewed' }));
    // Events that this machine created are not from the service.
    expect(report.neverSeen).toContainEqual(expect.objectContaining({ what: 'envelope.expired' }));
    await server.close();
  });
});
