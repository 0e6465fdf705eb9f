import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Client, createClient } from '../../src/api/client.ts';
import type { Envelope } from '../../src/api/resource-types.ts';
import { controlUrl, type SandboxControl, sandboxControl } from '../../src/api/sandbox-control.ts';
import { recentItems } from '../../src/catalog/envelope-list.ts';
import { replacedBy } from '../../src/catalog/markers.ts';
import { executeReplacement, type ReplaceResult } from '../../src/envelopes/replace/execute-replacement.ts';
import { planReplacement, type ReplaceRequest } from '../../src/envelopes/replace/plan-replacement.ts';
import { NetworkError } from '../../src/kernel/errors.ts';
import { isVoid } from '../../src/kernel/statuses.ts';
import type { WriteMemory } from '../../src/log/write-memory.ts';
import { newRequestId } from '../../src/once/create-body.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { fakeClock } from './clock.ts';
import { requestsToSign } from './mails.ts';
import { gateFor, memoryOf } from './recording.ts';
import { seeded } from './seeded.ts';

/** The process was killed: none of our code runs. */
class Killed extends Error {
  override readonly name = 'Killed';
}

export interface Rig {
  sandbox: Sandbox;
  client: Client;
  control: SandboxControl;
  folder: string;
  /** The log on this machine, in which `client` records. */
  memory: WriteMemory;
  /** A client whose writes are recorded elsewhere. */
  clientWith(memory: WriteMemory): Client;
  close(): Promise<void>;
}

/** The real service, a client without retries and with a clock that never waits, and a folder for local records. */
export async function startRig(choices: Record<string, string> = {}): Promise<Rig> {
  const folder = await mkdtemp(join(tmpdir(), 'esign-replace-'));
  const rateLimit = { requests: 10_000_000, seconds: 900 };
  const dataDir = join(folder, 'data');
  const sandbox = await startSandbox({ dataDir, port: 0, rateLimit, choices });
  const options = { apiKey: sandbox.apiKey, timeoutMs: 20_000, userAgent: 'esign-test', retries: 0 };
  const control = sandboxControl(
    createClient({ ...options, baseUrl: controlUrl(sandbox.baseUrl), clock: fakeClock() }).send,
  );
  const clientWith = (memory: WriteMemory) => {
    const clock = fakeClock();
    const gate = async () => gateFor(memory, sandbox.baseUrl, clock);
    return createClient({ ...options, baseUrl: sandbox.baseUrl, clock, gate });
  };
  const close = async () => {
    await sandbox.close();
    await rm(folder, { recursive: true, force: true });
  };
  const memory = memoryOf(folder, fakeClock());
  return { sandbox, client: clientWith(memory), control, folder, memory, clientWith, close };
}

const KINDS = ['SENT', 'IN_PROGRESS', 'DRAFT', 'DECLINED', 'CANCELLED', 'EXPIRED'] as const;
export type Kind = (typeof KINDS)[number];

/** An envelope in this status, with a wrong address in it. */
export async function wrongOne({ client, control }: Rig, kind: Kind): Promise<Envelope> {
  const { id } = await client.envelopes.create({
    templateId: 'tmpl_lease',
    signers: [
      { email: 'adda@example.com', name: 'Ada Lovelace', role: 'Tenant' },
      { email: 'bo@example.com', name: 'Bo', role: 'Landlord' },
    ],
    subject: 'Lease 5',
    metadata: { deal: '4711', esignRequestId: newRequestId(), esignRun: 'run-1', esignRow: 1 },
    ...(kind === 'DRAFT' ? {} : { sendImmediately: true }),
  });
  if (kind === 'IN_PROGRESS') await control.sign(id, { signer: 'bo@example.com' });
  if (kind === 'DECLINED') await control.decline(id, { signer: 'bo@example.com', reason: 'wrong text' });
  if (kind === 'CANCELLED') await client.envelopes.cancel(id);
  if (kind === 'EXPIRED') await control.advance(31 * 86_400_000);
  return client.envelopes.get(id);
}

export const requestFor = (id: string, more: Partial<ReplaceRequest> = {}): ReplaceRequest => ({
  id,
  changes: { signers: ['adda@example.com=ada@example.com'] },
  draft: false,
  evenIfSigned: true,
  ...more,
});

/** One run of the command, with the log of its machine. */
export async function replaceOnce(
  { client, memory }: { client: Client; memory: WriteMemory },
  request: ReplaceRequest,
): Promise<ReplaceResult> {
  const plan = await planReplacement(client, request, memory);
  const doing = executeReplacement(plan, request, { client, memory });
  for (;;) {
    const next = await doing.next();
    if (next.done) return next.value;
  }
}

/** The envelopes that replace an envelope. */
export async function madeFor({ client }: Pick<Rig, 'client'>, old: Envelope): Promise<Envelope[]> {
  const found: Envelope[] = [];
  const since = Date.parse(old.createdAt ?? '');
  for await (const one of recentItems(client, () => since)) if (replacedBy(one) === old.id) found.push(one);
  return found;
}

/** The statuses of those that are not canceled drafts. */
export async function leftFor(rig: Pick<Rig, 'client'>, old: Envelope): Promise<unknown[]> {
  return (await madeFor(rig, old)).filter((one) => !isVoid(one)).map(({ status }) => status);
}

const IN_FLIGHT = ['SENT', 'IN_PROGRESS'];

/** Both are never sent; and if the old one is gone, a new one exists at least as a draft. */
export async function expectOneAtMost(rig: Pick<Rig, 'client'>, old: Envelope): Promise<void> {
  const [now, made] = [await rig.client.envelopes.get(old.id), await madeFor(rig, old)];
  const sent = [now, ...made].filter(({ status }) => IN_FLIGHT.includes(status ?? ''));
  expect(sent.length).toBeLessThanOrEqual(1);
  const wasLive = ['DRAFT', ...IN_FLIGHT].includes(old.status ?? '');
  if (wasLive && now.status === 'CANCELLED') expect(made.some((one) => !isVoid(one))).toBe(true);
}

/** Possible faults of a request or a journal entry. */
function fate(random: () => number): 'well' | 'killed before' | 'killed after' | 'lost' | 'never came' {
  const at = random();
  if (at < 0.12) return 'killed before';
  if (at < 0.24) return 'killed after';
  if (at < 0.34) return 'lost';
  return at < 0.4 ? 'never came' : 'well';
}

const lost = () => new NetworkError('NETWORK', 'the reply was lost', { maybeReceived: true });

/** The client of a process that is killed, on a network that loses responses, as the seed chooses. */
function unreliable(client: Client, random: () => number): Client {
  const at = async <T>(work: () => Promise<T>): Promise<T> => {
    const what = fate(random);
    if (what === 'killed before') throw new Killed();
    if (what === 'never came') throw lost();
    const value = await work();
    if (what === 'killed after') throw new Killed();
    if (what === 'lost') throw lost();
    return value;
  };
  const { envelopes } = client;
  return {
    ...client,
    envelopes: {
      ...envelopes,
      get: (id, signal) => at(() => envelopes.get(id, signal)),
      create: (body, signal, once) => at(() => envelopes.create(body, signal, once)),
      send: (id, signal) => at(() => envelopes.send(id, signal)),
      cancel: (id, reason, signal) => at(() => envelopes.cancel(id, reason, signal)),
    },
  };
}

/** The log of such a process: a record may be missing, or be the last one. */
function unreliableMemory(memory: WriteMemory, random: () => number): WriteMemory {
  return {
    find: (keys) => memory.find(keys),
    async append(records) {
      const what = fate(random);
      if (what === 'killed before') throw new Killed();
      await memory.append(records);
      if (what === 'killed after') throw new Killed();
    },
  };
}

/** Replaces one envelope with every fault that the seed chooses, and checks the state after each try. */
export async function replaceThroughFaults(rig: Rig, seed: number): Promise<{ tries: number }> {
  const random = seeded(seed);
  const kind = KINDS[Math.floor(random() * KINDS.length)] ?? 'SENT';
  const old = await wrongOne(rig, kind);
  const forgets = random() < 0.2;
  for (let tries = 1; ; tries++) {
    const isLast = tries > 8;
    const request = requestFor(old.id, { draft: !isLast && random() < 0.1 });
    // Sometimes the local record is lost with the machine.
    const folder = forgets ? join(rig.folder, `memory-${seed}-${tries}`) : rig.folder;
    const whole = memoryOf(folder, rig.client.clock);
    const memory = isLast ? whole : unreliableMemory(whole, random);
    const logged = rig.clientWith(memory);
    const client = isLast ? logged : unreliable(logged, random);
    const done = await replaceOnce({ client, memory }, request).catch((error: unknown) => {
      if (isLast || !(error instanceof Killed || error instanceof Error)) throw error;
    });
    await expectOneAtMost(rig, old);
    if (done === undefined || request.draft) continue;
    const made = await rig.client.envelopes.get(done.new.id);
    expect([done.old.status, made.status, replacedBy(made)]).toEqual([
      kind === 'DECLINED' || kind === 'EXPIRED' ? kind : 'CANCELLED',
      'SENT',
      old.id,
    ]);
    expect(await leftFor(rig, old)).toEqual(['SENT']);
    expect(await requestsToSign(rig.sandbox, made.id)).toEqual({ 'ada@example.com': 1, 'bo@example.com': 1 });
    return { tries };
  }
}
