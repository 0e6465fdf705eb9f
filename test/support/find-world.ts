import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import { envelopeSchema } from '../../src/api/schemas.ts';
import { isList } from '../../src/kernel/json.ts';
import { Home } from './cli.ts';
import { ModelService, type Reading, summaryOf } from './model-service.ts';

/** What the API document leaves open about lists. */
export const READINGS: [string, Partial<Reading>][] = [
  ['newest first', {}],
  ['oldest first', { order: 'oldest-first' }],
  ['in no order', { order: 'none' }],
  ['without signers', { items: 'summary' }],
  ['without a count', { counts: false }],
  ['without a count, in no order', { counts: false, order: 'none' }],
];

/** A service, and a machine that searches it. */
export class FindWorld {
  readonly service: ModelService;
  readonly home: Home;

  private constructor(service: ModelService, home: Home) {
    this.service = service;
    this.home = home;
  }

  static async start(reading: Partial<Reading>): Promise<FindWorld> {
    const service = await ModelService.start(reading);
    return new FindWorld(service, new Home(service.env));
  }

  async close(): Promise<void> {
    await this.home.close();
    await this.service.close();
  }

  /** Creates envelopes, all but the last few of which can't change anymore. */
  make(count: number, active = 0): void {
    for (let n = 0; n < count; n++) {
      const { id } = this.service.make();
      if (n < count - active) this.service.move(id, n % 3 === 0 ? 'CANCELLED' : 'COMPLETED');
    }
  }

  /** The result of `find`, and the number of requests. */
  async find(...words: string[]): Promise<{ found: string[]; requests: number }> {
    const before = this.service.requests;
    const limit = words.includes('-L') ? [] : ['--all'];
    const list = await this.home.json(['find', ...words, ...limit]);
    const found = (isList(list) ? list : []).map((one) => summaryOf(envelopeSchema.parse(one)));
    return { found, requests: this.service.requests - before };
  }

  /** Where the machine keeps what it knows of the account. */
  get folder(): string {
    return this.home.path('state', 'index');
  }

  async files(): Promise<string[]> {
    return (await readdir(this.folder).catch(() => [])).map((name) => join(this.folder, name));
  }
}

/** What happens at the service and on this machine between two searches. */
const STEPS = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('make' as const), many: fc.constantFrom(1, 2, 40, 120) }),
    fc.record({
      do: fc.constant('move' as const),
      which: fc.nat(150),
      to: fc.constantFrom('IN_PROGRESS', 'COMPLETED', 'CANCELLED', 'EXPIRED', 'DECLINED'),
    }),
    fc.record({ do: fc.constant('get' as const), which: fc.nat(150) }),
    fc.record({ do: fc.constant('list' as const) }),
    fc.record({ do: fc.constant('damage' as const), at: fc.nat(1_000_000) }),
    fc.record({ do: fc.constant('reset' as const) }),
    fc.record({
      do: fc.constant('find' as const),
      word: fc.constantFrom('ada', 'no1', 'lease', 'd-2', '1003'),
      status: fc.constantFrom(undefined, ['SENT'], ['COMPLETED', 'CANCELLED']),
    }),
  ),
  { minLength: 3, maxLength: 12 },
);
type Step = typeof STEPS extends fc.Arbitrary<(infer One)[]> ? One : never;
const LAST: Step = { do: 'find', word: 'ada', status: undefined };
/** The service never leaves these states. */
const ENDED = ['COMPLETED', 'CANCELLED', 'EXPIRED'];

async function take(world: FindWorld, step: Step): Promise<void> {
  const { service, home } = world;
  const id = 'which' in step ? `env_${step.which}` : '';
  switch (step.do) {
    case 'make':
      return world.make(step.many, step.many);
    case 'move':
      if (!ENDED.includes(service.envelopes.get(id)?.status ?? 'COMPLETED')) service.move(id, step.to);
      return;
    case 'get':
      await home.run`envelopes get ${id} --json`;
      return;
    case 'list':
      await home.run`envelopes list -q`;
      return;
    case 'damage':
      for (const path of await world.files()) await damageByte(path, step.at);
      return;
    case 'reset':
      return service.envelopes.clear();
    case 'find': {
      const status = step.status === undefined ? [] : ['--status', step.status.join(',')];
      const { found } = await world.find(step.word, ...status);
      expect(found).toEqual(service.truth(step.word, step.status));
    }
  }
}

async function damageByte(path: string, at: number): Promise<void> {
  const bytes = await readFile(path);
  bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ 0x11;
  await writeFile(path, bytes);
}

/** Compares `find` with the service, after random steps and at their end. */
export async function findAfterAnyHistory(numRuns: number): Promise<void> {
  const readings = fc.constantFrom(...READINGS.map(([, reading]) => reading));
  const property = fc.asyncProperty(readings, STEPS, async (reading, steps) => {
    const world = await FindWorld.start(reading);
    try {
      for (const step of [...steps, LAST]) await take(world, step);
    } finally {
      await world.close();
    }
  });
  await fc.assert(property, { numRuns });
}
