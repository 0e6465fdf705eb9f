import { signersByOrder } from '../envelopes/turns.ts';
import { timeOf } from '../kernel/clock.ts';
import { DAY_MS } from '../kernel/duration.ts';
import { seededRandom } from '../kernel/random.ts';
import { ROW_KEY } from '../kernel/vocabulary.ts';
import type { Sandbox } from '../sandbox/index.ts';
import type { TurnKind } from '../statistics/turn-history.ts';
import type { AccountHistory, Behavior, Draw } from './history.ts';
import type { RehearsalService } from './service.ts';

export type RehearsedEnvelope = Awaited<ReturnType<Sandbox['control']['envelopes']>>[number];
type RehearsedSigner = RehearsedEnvelope['signers'][number];

/** An action of a signer at a time, in ms. */
interface SignerAction {
  at: number;
  envelopeId: string;
  /** The expiration of the envelope, in ms. */
  expiresAt: number;
  signerId: string;
  kind: 'signs' | 'declines';
}

/** A turn that takes longer than usual. */
export interface SlowTurn {
  /** The number of the row. */
  row: number;
  email: string;
  name: string;
  role: string;
  /** How long the turn takes. If the signer doesn't sign, it lasts until the envelope or the rehearsal ends. */
  waitingMs: number;
  usualMs: number;
}

export interface SignersFacts {
  history: AccountHistory;
  days: number;
  seed: number;
  signal: AbortSignal;
}

/**
 * Maximum number of steps in which the clock advances, which makes a step an hour for 30 days. Each step is a write to the
 * sandbox's journal.
 */
const MAX_STEPS = 720;
const NO_BROWSER = { ip: null, userAgent: null };
const REASON = 'Declined in a rehearsal.';

/** Simulates the signers for the rehearsed days, based on the history. Returns the signers who would be late, by row. */
export async function simulateSigners(service: RehearsalService, facts: SignersFacts): Promise<SlowTurn[]> {
  const { sandbox, clock } = service;
  const { days, signal } = facts;
  const [start, end] = [clock.now(), clock.now() + days * DAY_MS];
  const stepMs = Math.ceil((end - start) / MAX_STEPS);
  const envelopes = (await sandbox.control.envelopes()).sort((a, b) => rowOf(a) - rowOf(b));
  const behaviors = behaviorsOf(envelopes, facts);
  const plans = envelopes.map((envelope) => planOf(envelope, { ...facts, behaviors, end }));
  const actions = plans.flatMap((plan) => plan.actions);
  for (const [step, group] of bySteps(actions, { start, end, stepMs })) {
    signal.throwIfAborted();
    await clock.moveTo(momentOf(start + step * stepMs, group), signal);
    await Promise.all([...group.values()].map((ofEnvelope) => act(sandbox, ofEnvelope)));
  }
  await clock.moveTo(end, signal);
  return plans.flatMap((plan) => plan.late);
}

function rowOf({ metadata }: Pick<RehearsedEnvelope, 'metadata'>): number {
  return Number(metadata[ROW_KEY]);
}

/** Returns what each signer does, by ID. Signers of the same template and role share a set of draws. */
function behaviorsOf(
  envelopes: readonly RehearsedEnvelope[],
  { history, seed }: SignersFacts,
): Map<string, Behavior> {
  const groups = new Map<string, { kind: TurnKind; ids: string[] }>();
  for (const { templateId, signers } of envelopes) {
    for (const { id, role } of signers) {
      const key = JSON.stringify([templateId, role]);
      const group = groups.get(key) ?? { kind: { templateId, role }, ids: [] };
      groups.set(key, group);
      group.ids.push(id);
    }
  }
  const behaviors = new Map<string, Behavior>();
  for (const [key, { kind, ids }] of groups) {
    for (const [index, draw] of stratifiedDraws(ids.length, seed, key).entries())
      behaviors.set(ids[index] ?? '', history.behaviorOf(kind, draw));
  }
  return behaviors;
}

/** Groups the actions by the step of the clock at whose end they happen, in order, and by envelope. */
function bySteps(
  actions: readonly SignerAction[],
  { start, end, stepMs }: { start: number; end: number; stepMs: number },
): Map<number, Map<string, SignerAction[]>> {
  const steps = new Map<number, Map<string, SignerAction[]>>();
  for (const action of actions.filter(({ at }) => at < end).sort((a, b) => a.at - b.at)) {
    const step = Math.ceil((action.at - start) / stepMs);
    const group = steps.get(step) ?? new Map<string, SignerAction[]>();
    steps.set(step, group);
    group.set(action.envelopeId, [...(group.get(action.envelopeId) ?? []), action]);
  }
  return steps;
}

/** Returns the end of a step, or the time just before the first of its envelopes expires. */
function momentOf(stepEnd: number, group: ReadonlyMap<string, readonly SignerAction[]>): number {
  return Math.min(stepEnd, ...[...group.values()].flat().map(({ expiresAt }) => expiresAt - 1));
}

async function act({ control }: Sandbox, actions: readonly SignerAction[]): Promise<void> {
  for (const { envelopeId, signerId, kind } of actions) {
    if (kind === 'signs') await control.sign(envelopeId, { signer: signerId }, NO_BROWSER);
    else await control.decline(envelopeId, signerId, REASON);
  }
}

interface PlanFacts extends SignersFacts {
  behaviors: ReadonlyMap<string, Behavior>;
  /** The end of the rehearsal, in ms. */
  end: number;
}

interface EnvelopePlan {
  actions: SignerAction[];
  late: SlowTurn[];
}

/** Returns what the signers of an envelope do, and which of them take longer than usual. */
function planOf(envelope: RehearsedEnvelope, facts: PlanFacts): EnvelopePlan {
  const plan: EnvelopePlan = { actions: [], late: [] };
  let began = timeOf(envelope.sentAt);
  for (const signers of signersByOrder(envelope)) {
    // `began` is NaN if the envelope was not sent or the previous turn ended in a decline.
    if (!(began < timeOf(envelope.expiresAt))) break;
    began = planTurn(plan, { envelope, signers, began }, facts);
  }
  return plan;
}

/**
 * Plans the actions of signers whose turns begin at the same time. Returns the time when all have signed, in ms; NaN if one
 * declines.
 */
function planTurn(
  { actions, late }: EnvelopePlan,
  group: { envelope: RehearsedEnvelope; signers: readonly RehearsedSigner[]; began: number },
  { behaviors, history, end }: PlanFacts,
): number {
  const { envelope, signers, began } = group;
  const { id: envelopeId, templateId } = envelope;
  const expiresAt = timeOf(envelope.expiresAt);
  const acts = signers.map((signer) => actOf(signer, began, behaviors));
  const decline = acts.filter(({ kind }) => kind === 'declines').sort((a, b) => a.at - b.at)[0];
  const over = Math.min(decline?.at ?? Number.POSITIVE_INFINITY, expiresAt);
  for (const { signer, at, kind } of acts) {
    const { id: signerId, email, name, role } = signer;
    const waitingMs = Math.round(Math.min(at, over, end) - began);
    const usualMs = history.lateAfterMs({ templateId, role });
    if (waitingMs > usualMs) late.push({ row: rowOf(envelope), email, name, role, waitingMs, usualMs });
    if (kind === 'signs' && at < over) actions.push({ at, envelopeId, expiresAt, signerId, kind });
  }
  if (decline === undefined) return Math.max(...acts.map(({ at }) => at));
  if (decline.at < expiresAt)
    actions.push({ at: decline.at, envelopeId, expiresAt, signerId: decline.signer.id, kind: 'declines' });
  return Number.NaN;
}

function actOf(
  signer: RehearsedSigner,
  began: number,
  behaviors: ReadonlyMap<string, Behavior>,
): { signer: RehearsedSigner; at: number; kind: Behavior['kind'] } {
  const behavior = behaviors.get(signer.id) ?? { kind: 'ignores' };
  const at = behavior.kind === 'ignores' ? Number.POSITIVE_INFINITY : began + behavior.afterMs;
  return { signer, at, kind: behavior.kind };
}

/**
 * Returns draws for a number of turns. The range from 0 to 1 is divided into `size` equal parts, and one number is drawn from
 * each, in random order. So a list of 20 rows shows the expected outcome of 20 rows, not a random deviation from it.
 */
export function stratifiedDraws(size: number, seed: number, name: string): Draw[] {
  const outcomes = evenNumbers(size, seededRandom(seed, `${name} outcome`));
  const places = evenNumbers(size, seededRandom(seed, `${name} place`));
  return outcomes.map((outcome, index) => ({ outcome, place: places[index] ?? 0 }));
}

function evenNumbers(size: number, random: () => number): number[] {
  const numbers = Array.from({ length: size }, (_, index) => (index + random()) / size);
  for (let last = size - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [numbers[last], numbers[other]] = [numbers[other] ?? 0, numbers[last] ?? 0];
  }
  return numbers;
}
