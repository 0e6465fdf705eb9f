import { describe, expect, it } from 'vitest';
import { timeByWindow } from '../../src/bulk/estimate.ts';
import { BulkPace } from '../../src/bulk/pace.ts';
import { LineIndex } from '../../src/bulk/rows/open-rows.ts';

const answered = (pace: BulkPace, count: number, ms: number) => {
  for (let n = 0; n < count; n++) pace.recordResponse(ms);
};

describe('the pace', () => {
  it('rises to the requested rate while the service keeps up, and never above it', () => {
    const pace = new BulkPace(16);
    expect(pace.limit).toBe(4);
    answered(pace, 40, 50);
    expect(pace.limit).toBe(16);
  });

  it('halves when the service fails, and rises slowly from there', () => {
    const pace = new BulkPace(16);
    answered(pace, 40, 50);
    pace.failed();
    expect(pace.limit).toBe(8);
    answered(pace, 8, 50);
    expect(pace.limit).toBe(8);
    answered(pace, 8, 50);
    expect(pace.limit).toBe(9);
    for (let n = 0; n < 10; n++) pace.failed();
    expect(pace.limit).toBe(1);
  });

  it('decreases when responses get slow', () => {
    const pace = new BulkPace(16);
    answered(pace, 40, 50);
    answered(pace, 20, 4_000);
    expect(pace.limit).toBeLessThan(12);
  });

  it('lets the allowed number through, urgent requests first', async () => {
    const pace = new BulkPace(1);
    const order: string[] = [];
    let release: () => void = () => undefined;
    const held = pace.run(false, () => new Promise<void>((resolve) => (release = resolve)));
    const rest = ['late', 'urgent'].map((name) =>
      pace.run(name === 'urgent', () => {
        order.push(name);
        return Promise.resolve();
      }),
    );
    expect(order).toEqual([]);
    release();
    await Promise.all([held, ...rest]);
    expect(order).toEqual(['urgent', 'late']);
  });
});

describe('the estimate', () => {
  const reading = { limit: 1_000, free: 600, resetAt: 300_000 };
  it.each([
    [600, 0],
    [601, 300_000],
    [1_500, 300_000],
    [1_501, 300_000 + 900_000],
  ])('estimates that %i requests take %i ms', (requests, ms) => {
    expect(timeByWindow(requests, reading, 0.1, 0)).toBe(ms);
  });
  it('uses a window that has just started, and is undefined without one', () => {
    expect(timeByWindow(1_000, { limit: 400, free: 399, resetAt: 3_000 }, 0, 0)).toBe(6_000);
    expect(timeByWindow(1_000, undefined, 0, 0)).toBeUndefined();
  });
});

describe('the index of lines', () => {
  it('finds the first line of each of a hundred thousand contents', () => {
    const index = new LineIndex();
    let known = 0;
    for (let line = 1; line <= 100_000; line++) known += index.firstLine(`row ${line}`, line) ?? 0;
    expect(known).toBe(0);
    for (let line = 1; line <= 100_000; line += 997) expect(index.firstLine(`row ${line}`, 0)).toBe(line);
  });
});
