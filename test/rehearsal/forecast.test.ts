import { afterEach, expect, it } from 'vitest';
import type { Envelope } from '../../src/api/schemas.ts';
import type { BulkRow } from '../../src/bulk/rows/row.ts';
import { seededRandom } from '../../src/kernel/random.ts';
import { AccountHistory } from '../../src/rehearsal/history.ts';
import { rehearse } from '../../src/rehearsal/rehearse.ts';
import { type RehearsalService, startRehearsalService } from '../../src/rehearsal/service.ts';

/** How the signers of an account behave; times in hours. */
interface Account {
  hours: (random: () => number) => number;
  /** Hours of the second signer, who signs after the first one; at the same time if `parallel`. */
  second?: (random: () => number) => number;
  parallel?: boolean;
  declines?: number;
  ignores?: number;
  days?: number;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const NOW = Date.parse('2026-11-22T12:00:00Z');
const PAST = 2_000;
const ROWS = 100;
const FUTURE = 4_000;
const EXPIRY_DAYS = 30;

const exponential = (mean: number) => (random: () => number) => -Math.log(1 - random()) * mean;
const lognormal = (median: number, spread: number) => (random: () => number) =>
  median * Math.exp(spread * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()));

const accounts: [string, Account][] = [
  ['signers who always take two days', { hours: () => 48 }],
  ['signers who take two days on average', { hours: exponential(48) }],
  ['signers with a long tail', { hours: lognormal(30, 1.2) }],
  ['signers who sign within minutes', { hours: exponential(0.5) }],
  [
    'signers who are fast or wait for the weekend',
    { hours: (random) => (random() < 0.6 ? 4 : 120) + random() * 24 },
  ],
  ['signers of whom one in twenty declines', { hours: exponential(60), declines: 0.05 }],
  ['signers of whom some never sign', { hours: lognormal(48, 0.6), ignores: 0.06 }],
  ['two signers in order', { hours: exponential(30), second: exponential(70) }],
  ['two signers at the same time', { hours: exponential(30), second: lognormal(60, 0.5), parallel: true }],
  [
    'two signers in order, some of whom decline or never sign',
    { hours: lognormal(20, 0.8), second: exponential(50), declines: 0.02, ignores: 0.02, days: 60 },
  ],
];

let service: RehearsalService | undefined;
afterEach(() => service?.close());

const TITLE = 'predicts the days of 50 and 90 percent for %s';
const everyDay = ['signers with a long tail', 'signers of whom some never sign'];
const isEveryDay = ([name]: readonly [string, Account]) => everyDay.includes(name);

it.each(accounts.filter(isEveryDay))(TITLE, (_name, account) => compare(account));
it.each(accounts.filter((one) => !isEveryDay(one)))(TITLE, { tags: ['full'] }, (_name, account) =>
  compare(account),
);

/** Rehearses a list and compares the days with those of signers who behave as before. */
async function compare(account: Account): Promise<void> {
  const history = new AccountHistory(NOW);
  for (const envelope of past(account)) history.add(envelope);
  const days = account.days ?? 30;
  service = await startRehearsalService({
    startsAt: NOW,
    standIns: [{ id: 'tmpl_a', name: 'Lease', roles: ['First', 'Second'], fields: [] }],
    rate: { requests: 10_000, seconds: 900 },
    reserve: 0,
    userAgent: 'esign-test',
  });
  const { expected } = await rehearse(service, {
    rows: rowsOf(account),
    mode: 'one-step',
    concurrency: 16,
    days,
    seed: 1,
    history,
    signal: new AbortController().signal,
    redact: (text) => text,
  });
  const happened = future(account, days);
  for (const [predicted, real] of [
    [expected.day50, happened.day50],
    [expected.day90, happened.day90],
  ] as const) {
    expect(real === null).toBe(predicted === null);
    expect(Math.abs((predicted ?? 0) - (real ?? 0))).toBeLessThanOrEqual(Math.max(1, 0.2 * (real ?? 0)));
  }
}

/** When each signer of an envelope acts, in hours from its sending; an envelope ends with the first decline. */
function acts(account: Account, random: () => number) {
  const signers: { began: number; at: number; kind: 'signs' | 'declines' | 'ignores' }[] = [];
  let began = 0;
  for (const hours of account.second ? [account.hours, account.second] : [account.hours]) {
    const took = hours(random);
    const fate = random();
    const [ignores, declines] = [account.ignores ?? 0, account.declines ?? 0];
    const kind = fate < ignores ? 'ignores' : fate < ignores + declines ? 'declines' : 'signs';
    signers.push({ began, at: began + took, kind });
    if (account.parallel) continue;
    if (kind !== 'signs') break;
    began += took;
  }
  const over = Math.min(
    EXPIRY_DAYS * 24,
    ...signers.flatMap(({ kind, at }) => (kind === 'declines' ? at : [])),
  );
  const isComplete = signers.every(({ kind, at }) => kind === 'signs' && at < over);
  return { signers, over, isComplete, hours: Math.max(...signers.map(({ at }) => at)) };
}

function past(account: Account): Envelope[] {
  const random = seededRandom(11, 'past');
  return Array.from({ length: PAST }, (_, index) => {
    const sent = NOW - (50 + random() * 100) * DAY_MS;
    const { signers, over, isComplete } = acts(account, random);
    const iso = (hours: number) => new Date(sent + hours * HOUR_MS).toISOString();
    const hasDeclined = signers.some(({ kind, at }) => kind === 'declines' && at <= over);
    return {
      id: `env_${index}`,
      templateId: 'tmpl_a',
      status: isComplete ? 'COMPLETED' : hasDeclined ? 'DECLINED' : 'EXPIRED',
      signingOrder: account.parallel ? 'PARALLEL' : 'SEQUENTIAL',
      sentAt: iso(0),
      expiresAt: iso(EXPIRY_DAYS * 24),
      signers: (account.second ? ['First', 'Second'] : ['First']).map((role, place) => {
        const act = signers[place];
        const has = (kind: string) => (act?.kind === kind && act.at <= over ? iso(act.at) : null);
        return { id: role, role, order: place + 1, signedAt: has('signs'), declinedAt: has('declines') };
      }),
    };
  });
}

function rowsOf({ second, parallel }: Account): BulkRow[] {
  const roles = second ? ['First', 'Second'] : ['First'];
  return Array.from({ length: ROWS }, (_, index) => ({
    row: index + 1,
    line: index + 2,
    content: '',
    cells: '',
    envelope: {
      templateId: 'tmpl_a',
      signers: roles.map((role, place) => ({
        email: `${role.toLowerCase()}${index}@example.com`,
        name: role,
        role,
        order: place + 1,
      })),
      expiresInDays: EXPIRY_DAYS,
      signingOrder: parallel ? 'PARALLEL' : 'SEQUENTIAL',
    },
  }));
}

/** What then happens: the day on which 50% and 90% are complete. */
function future(account: Account, days: number): { day50: number | null; day90: number | null } {
  const random = seededRandom(22, 'future');
  const ended = Array.from({ length: FUTURE }, () => acts(account, random))
    .filter(({ isComplete, hours }) => isComplete && hours <= days * 24)
    .map(({ hours }) => hours / 24)
    .sort((a, b) => a - b);
  const dayOf = (share: number) => ended[Math.ceil(FUTURE * share) - 1] ?? null;
  return { day50: dayOf(0.5), day90: dayOf(0.9) };
}
