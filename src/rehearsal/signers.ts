import { signersByOrder } from '../envelopes/turns.ts';
import { timeOf } from '../kernel/clock.ts';
import { seededRandom } from '../kernel/random.ts';
import { ROW_KEY } from '../kernel/vocabulary.ts';
import type { Sandbox } from '../sandbox/index.ts';
import type { AccountHistory, Behavior } from './history.ts';
import type { RehearsalService } from './service.ts';

export type SandboxEnvelope = Awaited<ReturnType<Sandbox['control']['envelopes']>>[number];

/** Something a signer does, at a moment in ms. */
interface Deed {
  at: number;
  envelopeId: string;
  signerId: string;
  kind: 'signs' | 'declines';
}

export interface SignersFacts {
  history: AccountHistory;
  days: number;
  seed: number;
  signal: AbortSignal;
  onProgress: (share: number) => void;
}

const DAY_MS = 86_400_000;
/** The clock moves in at most this many steps, of an hour for 30 days: each is a write to the sandbox's journal. */
const MOST_STEPS = 720;
const NO_BROWSER = { ip: null, userAgent: null };
const REASON = 'Declined in a rehearsal.';

/** Lets the signers act as their history says, until the days are over. Returns the number of turns that were late. */
export async function letSignersAct(
  service: RehearsalService,
  facts: SignersFacts,
): Promise<{ late: number }> {
  const { sandbox, clock } = service;
  const { days, signal, onProgress } = facts;
  const [start, end] = [clock.now(), clock.now() + days * DAY_MS];
  const stepMs = Math.ceil((end - start) / MOST_STEPS);
  const deeds: Deed[] = [];
  let late = 0;
  for (const envelope of await sandbox.control.envelopes()) {
    const plan = planOf(envelope, facts, end);
    deeds.push(...plan.deeds);
    late += plan.late;
  }
  for (const [step, group] of bySteps(deeds, { start, end, stepMs })) {
    signal.throwIfAborted();
    await clock.moveTo(start + step * stepMs, signal);
    await Promise.all([...group.values()].map((ofEnvelope) => act(sandbox, ofEnvelope)));
    onProgress((step * stepMs) / (end - start));
  }
  await clock.moveTo(end, signal);
  return { late };
}

/** The deeds by the step of the clock at whose end they happen, in order, and by envelope. */
function bySteps(
  deeds: readonly Deed[],
  { start, end, stepMs }: { start: number; end: number; stepMs: number },
): Map<number, Map<string, Deed[]>> {
  const steps = new Map<number, Map<string, Deed[]>>();
  for (const deed of deeds.filter(({ at }) => at < end).sort((a, b) => a.at - b.at)) {
    const step = Math.ceil((deed.at - start) / stepMs);
    const group = steps.get(step) ?? new Map<string, Deed[]>();
    steps.set(step, group);
    group.set(deed.envelopeId, [...(group.get(deed.envelopeId) ?? []), deed]);
  }
  return steps;
}

async function act({ control }: Sandbox, deeds: readonly Deed[]): Promise<void> {
  for (const { envelopeId, signerId, kind } of deeds) {
    if (kind === 'signs') await control.sign(envelopeId, { signer: signerId }, NO_BROWSER);
    else await control.decline(envelopeId, signerId, REASON);
  }
}

/** What the signers of an envelope do, and how many of them take longer than usual. */
function planOf(
  envelope: SandboxEnvelope,
  { history, seed }: SignersFacts,
  end: number,
): { deeds: Deed[]; late: number } {
  const deeds: Deed[] = [];
  let late = 0;
  const random = seededRandom(seed, `row ${String(envelope.metadata[ROW_KEY])}`);
  const expiresAt = timeOf(envelope.expiresAt);
  let began = timeOf(envelope.sentAt);
  for (const signers of signersByOrder(envelope)) {
    // NaN: it was not sent.
    if (!(began < expiresAt)) break;
    const acts = signers.map((signer) => ({
      signerId: signer.id,
      lateMs: history.lateAfterMs({ templateId: envelope.templateId, role: signer.role }),
      behavior: history.behaviorOf({ templateId: envelope.templateId, role: signer.role }, random),
    }));
    const declinedAt = Math.min(
      ...acts.map(({ behavior }) =>
        behavior.kind === 'declines' ? began + behavior.afterMs : Number.POSITIVE_INFINITY,
      ),
    );
    const over = Math.min(declinedAt, expiresAt);
    for (const { signerId, behavior, lateMs } of acts) {
      const at = began + msOf(behavior);
      if (Math.min(at, over, end) - began > lateMs) late++;
      if (behavior.kind !== 'ignores' && at <= over && at < expiresAt)
        deeds.push({ at, envelopeId: envelope.id, signerId, kind: behavior.kind });
    }
    if (declinedAt < Number.POSITIVE_INFINITY) break;
    began = Math.max(...acts.map(({ behavior }) => began + msOf(behavior)));
  }
  return { deeds, late };
}

function msOf(behavior: Behavior): number {
  return behavior.kind === 'ignores' ? Number.POSITIVE_INFINITY : behavior.afterMs;
}
