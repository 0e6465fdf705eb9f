import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { childCommandLine } from '../../src/demo/child-command-line.ts';

/** A server that stops with its stdin and then tidies up; a signal ends it at once. */
const SERVER = `
process.stdin.resume().once('close', () => {
  require('node:fs').writeFileSync(process.env.TIDY, 'tidy');
  process.exit(0);
});
process.on('SIGTERM', () => process.exit(1));
console.log('{"type":"ready"}');
`;

test('A child is stopped by its stdin, so that it can tidy up on every system', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'esign-demo-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const tidy = join(folder, 'tidy');
  const { signal } = new AbortController();
  const commands = childCommandLine([process.execPath, '-e', SERVER], { TIDY: tidy }, signal);
  const server = commands.start([]);
  expect(await server.line()).toEqual({ type: 'ready' });
  await server.stop();
  expect(await server.ended()).toBe(0);
  expect(await readFile(tidy, 'utf8')).toBe('tidy');
});
