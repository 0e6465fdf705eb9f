import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home } from '../support/cli.ts';

let home: Home;
beforeEach(() => {
  home = new Home();
});
afterEach(() => home.close());

const LISTEN = argv`listen --no-verify --port 0 --json`;

/** Receives three webhooks, and changes one byte of a line in their journal. */
async function damage(line: number): Promise<string> {
  const listener = home.background(LISTEN);
  const { url } = await listener.object();
  for (const id of ['env_1', 'env_2', 'env_3']) {
    const body = JSON.stringify({ event: 'envelope.sent', data: { envelope: { id } } });
    expect((await fetch(String(url), { method: 'POST', body })).status).toBe(200);
  }
  await listener.stop();
  const folder = home.path('state', 'events');
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.jsonl'));
  const path = join(folder, names[0] ?? '');
  const lines = (await readFile(path, 'utf8')).split('\n');
  await writeFile(path, lines.map((text, i) => (i === line ? text.replace('e', 'f') : text)).join('\n'));
  return path;
}

it.each([
  ['header', 0, 3],
  ['record', 2, 2],
])('reports a damaged %s in events list and listen, and reads the others', async (_, line, left) => {
  const path = await damage(line);
  const list = await home.run(argv`events list --json`);
  const events = parseJson(list.stdout);
  expect([list.code, events]).toEqual([0, expect.any(Array)]);
  expect(events).toHaveLength(left);
  expect(list.stderr).toContain(path);

  const listener = home.background(LISTEN);
  expect(await listener.object()).toMatchObject({ type: 'ready' });
  await listener.says(new RegExp(path.replaceAll('.', '\\.')));
  await listener.stop();
});

it('reports a damaged record in every command that depends on it', async () => {
  const path = await damage(2);
  await home.sandbox();
  const create = argv`envelopes create --template tmpl_nda --signer ada@example.com --send --json`;
  const id = String((await home.object(create)).id);
  const { code } = await home.run(argv`sandbox sign ${id}`);
  expect(code).toBe(0);
  for (const words of [
    argv`envelopes evidence ${id} --dir evidence --json`,
    argv`envelopes get ${id} --history --json`,
    argv`events gaps --json`,
    argv`events replay --since 1d --to http://127.0.0.1:9/ --json`,
    argv`events show dlv_lost`,
  ])
    expect((await home.run(words)).stderr, words.join(' ')).toContain(path);
});
