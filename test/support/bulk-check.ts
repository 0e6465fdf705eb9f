import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { createClient } from '../../src/api/client.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { isList } from '../../src/kernel/json.ts';
import type { Home, Sandbox } from './cli.ts';
import { requestsToSign } from './mails.ts';

/** The state of a service after a run: signers with their envelopes, and leftover drafts. */
export interface Holdings {
  /** Envelopes per signer's address, except canceled drafts. */
  perSigner: Map<string, number>;
  drafts: number;
  /** Requests to sign in the mailbox, per address. */
  mails: Map<string, number>;
  statuses: Map<string, number>;
}

/** Reads every envelope of the sandbox. */
export async function holdingsOf(sandbox: Sandbox): Promise<Holdings> {
  const client = createClient({
    baseUrl: sandbox.baseUrl,
    apiKey: sandbox.apiKey,
    timeoutMs: 30_000,
    userAgent: 'esign-test',
    clock: systemClock,
  });
  const perSigner = new Map<string, number>();
  const statuses = new Map<string, number>();
  for await (const envelope of client.envelopes.list()) {
    const status = envelope.status ?? '';
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status === 'CANCELLED') continue;
    const email = envelope.signers?.[0]?.email ?? '';
    perSigner.set(email, (perSigner.get(email) ?? 0) + 1);
  }
  return {
    perSigner,
    statuses,
    drafts: statuses.get('DRAFT') ?? 0,
    mails: new Map(Object.entries(await requestsToSign(sandbox))),
  };
}

/** A CSV file with this many rows of one signer each. */
export function rowsOf(count: number): string {
  return [
    'email,name,meta.n',
    ...Array.from({ length: count }, (_, n) => `s${n}@example.com,Signer ${n},${n}`),
    '',
  ].join('\n');
}

/** Runs `bulk resume` until it succeeds; before that, it is killed after each of the delays (ms). */
export async function resumeThroughKills(
  home: Home,
  first: readonly string[],
  delays: readonly number[],
): Promise<{ code: number | null; stderr: string; kills: number }> {
  const countRuns = async () => {
    const runs = await home.json`bulk list --all`;
    return isList(runs) ? runs.length : 0;
  };
  const before = await countRuns();
  let kills = 0;
  let words = first;
  for (const delay of delays) {
    const running = home.start(words);
    running.child.stdout?.resume();
    const ended = await Promise.race([running.ended, pause(delay)]);
    if (ended !== undefined) break;
    running.child.kill('SIGKILL');
    await running.ended;
    kills++;
    // If a kill comes before the run is stored, there is nothing to resume.
    if ((await countRuns()) > before) words = ['bulk', 'resume', '--yes', '--json'];
  }
  for (let attempt = 1; ; attempt++) {
    const { code, stderr } = await home.run(words);
    if (code === 0 || attempt >= 5) return { code, stderr, kills };
    if ((await countRuns()) > before) words = ['bulk', 'resume', '--yes', '--json'];
  }
}

/** Every signer has one sent envelope and got one email; no draft is left. */
export async function expectOnce(sandbox: Sandbox, rows: number): Promise<void> {
  const { perSigner, mails, statuses, drafts } = await holdingsOf(sandbox);
  expect([statuses.get('SENT'), perSigner.size, mails.size, drafts]).toEqual([rows, rows, rows, 0]);
  expect([...perSigner, ...mails].filter(([, count]) => count !== 1)).toEqual([]);
}
