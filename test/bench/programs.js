import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { BIN, homeIn, rowOf, startSandbox } from './measure.js';

const MOST_START_MS = 150;

/** For programs: an in-process sandbox, and the wait of an MCP client. */
/** @returns {Promise<import('./measure.js').Row[]>} */
export async function benchPrograms({ rounds = 10 } = {}) {
  return [await embedded(rounds), ...(await assistant(rounds))];
}

async function embedded(rounds) {
  const { startSandbox: start } = await import('esign-cli/sandbox');
  const taken = [];
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    const sandbox = await start();
    taken.push(performance.now() - began);
    await sandbox.close();
  }
  return rowOf('startSandbox, after the module is loaded', taken, {
    unit: 'ms',
    asked: `<= ${MOST_START_MS}`,
  });
}

async function assistant(rounds) {
  const folder = await mkdtemp(join(tmpdir(), 'esign-bench-mcp-'));
  const sandbox = await startSandbox(folder);
  const began = performance.now();
  const child = spawn(process.execPath, [BIN, 'mcp'], {
    env: homeIn(folder),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  try {
    const lines = createInterface({ input: child.stdout });
    const ask = async (id, method, params) => {
      const answered = once(lines, 'line');
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      const [line] = await answered;
      return JSON.parse(line);
    };
    const clientInfo = { name: 'bench', version: '1' };
    await ask(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    const ready = performance.now() - began;
    child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    const taken = [];
    for (let round = 0; round <= rounds; round++) {
      const asked = performance.now();
      const answer = await ask(round + 2, 'tools/call', { name: 'list', arguments: {} });
      if (answer.result?.isError !== undefined && answer.result.isError)
        throw new Error(JSON.stringify(answer));
      // The first call opens the connection.
      if (round > 0) taken.push(performance.now() - asked);
    }
    return [
      { name: 'mcp: time from start to first response', value: `${Math.round(ready)} ms` },
      rowOf('mcp: a call that sends one request', taken, { unit: 'ms', digits: 1 }),
    ];
  } finally {
    child.kill();
    await sandbox.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
