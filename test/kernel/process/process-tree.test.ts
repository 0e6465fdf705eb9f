import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { endTree, taskkill } from '../../../src/kernel/process/process-tree.ts';

it('stops a process and its children on Windows with the program of the system', () => {
  const command = ['D:\\Win\\System32\\taskkill.exe', ['/pid', '4242', '/T', '/F']];
  expect(taskkill(4242, { SystemRoot: 'D:\\Win' })).toEqual(command);
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
