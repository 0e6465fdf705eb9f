import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { childCommandLine } from '../../src/demo/child-command-line.ts';
import { newFolder } from '../support/folder.ts';

/** A server that exits when its stdin closes, after cleaning up; a signal ends it immediately. */
const SERVER = `
process.stdin.resume().once('close', () => {
  require('node:fs').writeFileSync(process.env.TIDY, 'tidy');
  process.exit(0);
});
process.on('SIGTERM', () => process.exit(1));
console.log('{"type":"ready"}');
`;

test('stops a child by closing its stdin, so that it can clean up on every system', async () => {
  const folder = newFolder();
  const tidy = join(folder, 'tidy');
  const { signal } = new AbortController();
  const commands = childCommandLine([process.execPath, '-e', SERVER], { TIDY: tidy }, signal);
  const server = commands.start('');
  expect(await server.line()).toEqual({ type: 'ready' });
  await server.stop();
  expect(await server.ended()).toBe(0);
  expect(await readFile(tidy, 'utf8')).toBe('tidy');
});

test('passes the child the request timeout, and none of our other variables', async () => {
  vi.stubEnv('ESIGN_TIMEOUT', '2m');
  vi.stubEnv('ESIGN_PROFILE', 'live');
  onTestFinished(() => void vi.unstubAllEnvs());
  const show = 'console.log(JSON.stringify([process.env.ESIGN_TIMEOUT, process.env.ESIGN_PROFILE ?? null]))';
  const { signal } = new AbortController();
  const commands = childCommandLine([process.execPath, '-e', show], {}, signal);
  expect(await commands.run('')).toEqual(['2m', null]);
});

test("exempts this machine from the child's proxy", async () => {
  vi.stubEnv('no_proxy', '');
  vi.stubEnv('NO_PROXY', 'a.example');
  onTestFinished(() => void vi.unstubAllEnvs());
  const show = 'console.log(JSON.stringify([process.env.NO_PROXY, process.env.no_proxy]))';
  const commands = childCommandLine([process.execPath, '-e', show], {}, new AbortController().signal);
  expect(await commands.run('')).toEqual(Array(2).fill('a.example,127.0.0.1,localhost,::1'));
});

test('waits for a child that is slow to start, but not after Ctrl-C', async () => {
  const stopped = new AbortController();
  const slow =
    'setTimeout(() => console.log(1), 60_000); process.stdin.resume().once("close", () => process.exit())';
  const server = childCommandLine([process.execPath, '-e', slow], {}, stopped.signal).start('');
  const line = expect(server.line()).rejects.toThrow('stopped');
  stopped.abort(new Error('stopped'));
  await line;
  await server.stop();
});
