import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { endTree, treeEnding } from '../../../src/kernel/process/process-tree.ts';

it.each<[NodeJS.Platform, ReturnType<typeof treeEnding>]>([
  ['linux', { group: -4242 }],
  ['darwin', { group: -4242 }],
  ['win32', { file: 'D:\\Win\\System32\\taskkill.exe', args: ['/pid', '4242', '/T', '/F'] }],
])('stops a process and its children: %s', (platform, ending) => {
  expect(treeEnding(4242, platform, { SystemRoot: 'D:\\Win' })).toEqual(ending);
});

it.skipIf(process.platform === 'win32')('stops real processes, and ignores one that has ended', async () => {
  const script = 'trap "" TERM; (trap "" TERM; echo ready; exec sleep 1000) & wait';
  const parent = spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  await once(parent.stdout, 'data');
  endTree(parent.pid ?? 0);
  // The pipe ends when neither the shell nor its child holds it any longer.
  await once(parent.stdout, 'end');
  expect(() => endTree(parent.pid ?? 0)).not.toThrow();
});
