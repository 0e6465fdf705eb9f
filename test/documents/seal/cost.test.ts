import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { cmsOf, makeSealer, plainPdf, sealed, timestamped, withSignature } from '../../support/sealing.ts';
import { gapIn } from './forgeries.ts';
import { checkedSealOf, sealOf, stateOf } from './seal-of.ts';

/*
 * Anyone can make a file that takes long to check. These tests count reads and the turns of other work, because times depend on the
 * computer. The digest of a file is read in another way, which isn't counted.
 */
const MIB = 1024 * 1024;
const BLOCK = MIB / 4;

interface Read {
  at: unknown;
  bytes: number;
}
let readsSoFar: () => Read[];

beforeEach(() => {
  const { mock } = vi.spyOn(fs, 'readSync');
  syncBuiltinESMExports();
  readsSoFar = () =>
    mock.calls.map((call: readonly unknown[], index) => ({
      at: call[4],
      bytes: Number(mock.results[index]?.value),
    }));
});
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

const bytesRead = () => readsSoFar().reduce((sum, { bytes }) => sum + bytes, 0);

/** The digits of a file's last signature are read from behind the bracket only to be decoded. */
const readsOfDigits = (pdf: Buffer) => readsSoFar().filter(({ at }) => at === gapIn(pdf).from + 1);

/** Counts the turns that other work gets during an operation. */
async function turnsDuring(operation: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const turn = () => {
    if (isDone) return;
    turns += 1;
    setImmediate(turn);
  };
  setImmediate(turn);
  await operation;
  isDone = true;
  return turns;
}

/** The start of a PDF with many byte ranges, whose gap follows a lot of white space. */
function rangesBeforeSpace(count: number, space: number): Buffer {
  const gapStart = 1_000 + space;
  const range = `/ByteRange [0 ${gapStart} ${gapStart + 4} 1]`;
  const head = `%PDF-1.7\n${range.repeat(count)}`.padEnd(1_000 - '/Contents'.length, 'x');
  return Buffer.from(`${head}/Contents${' '.repeat(space)}<00>x`);
}

describe('a check for seals', () => {
  it('reads a file once that repeats /ByteRange, and lets other work run', async () => {
    const pdf = Buffer.alloc(2 * MIB, '/ByteRange');
    expect(await turnsDuring(stateOf(pdf))).toBeGreaterThanOrEqual(5);
    expect(readsSoFar().length).toBeLessThan(20);
    expect(bytesRead()).toBeLessThan(3 * MIB);
  });

  it.each([BLOCK - 20, BLOCK - 10, BLOCK - 1])(
    'finds a byte range with white space over several blocks, at %i',
    async (at) => {
      const pdf = Buffer.alloc(2 * MIB, ' ');
      pdf.write('%PDF-1.7\n');
      pdf.write('/ByteRange', at, 'latin1');
      expect(await stateOf(pdf)).toBe('unsigned');
      pdf.write('x', pdf.length - 1, 'latin1');
      expect(await stateOf(pdf)).toBe('unsigned');
      pdf.write('[0 1 2 3]', pdf.length - 9, 'latin1');
      expect(await turnsDuring(stateOf(pdf))).toBeGreaterThanOrEqual(12);
      expect((await sealOf(pdf))?.reason).toContain('leaves out more than the signature');
    },
  );

  it('refuses several byte ranges for one gap, without searching the gap', async () => {
    const pdf = rangesBeforeSpace(10, 2 * MIB);
    expect((await sealOf(pdf))?.reason).toContain('overlaps another one');
    expect(bytesRead()).toBeLessThan(1.5 * pdf.length);
  });

  it('lets other work run while it looks for the /Contents before white space', async () => {
    const pdf = rangesBeforeSpace(1, 2 * MIB);
    // Its gap is right, and its signature can't be read.
    expect(await turnsDuring(sealOf(pdf))).toBeGreaterThanOrEqual(12);
    expect((await sealOf(pdf))?.reason).toContain('CMS structure');
  });

  it('reads only a little next to the seal for its time', async () => {
    const sealer = await makeSealer({ name: 'Service' });
    const withoutTime = (covered: Buffer) =>
      cmsOf(sealer, covered, {
        attributes: ([type, , digest]) => [type, digest].flatMap((one) => one ?? []),
      });
    const far = { contents: `${' '.repeat(2 * MIB)} /M (D:20260301102030+01'00') /Contents` };
    const pdf = withSignature(plainPdf(), withoutTime, far);
    expect(await sealOf(pdf)).toMatchObject({ state: 'intact', time: '2026-03-01T09:20:30.000Z' });
    expect(bytesRead()).toBeLessThan(1.5 * pdf.length);
  });

  it('decodes each signature once', async () => {
    const [service, authority] = [await makeSealer({ name: 'Service' }), await makeSealer({ name: 'Times' })];
    const early = timestamped(authority, plainPdf());
    const own = sealed(service, early);
    const later = timestamped(authority, own);
    const last = timestamped(authority, later);
    expect(await sealOf(last)).toMatchObject({
      state: 'intact',
      others: [{ kind: 'timestamp' }, { kind: 'timestamp' }, { kind: 'timestamp' }],
    });
    for (const pdf of [early, own, later, last]) expect(readsOfDigits(pdf)).toHaveLength(1);
  });

  it('decodes a limited number of values in all signatures together, beginning with the seal', async () => {
    const service = await makeSealer({ name: 'Service' });
    const nulls = Buffer.alloc(2 * 60_000, Buffer.from('0500', 'hex'));
    const large = (pdf: Buffer) =>
      withSignature(pdf, (covered) => cmsOf(service, covered, { certificates: [nulls] }), { room: 300_000 });
    expect(await sealOf(sealed(service, large(large(plainPdf()))))).toMatchObject({
      state: 'intact',
      others: [{ kind: 'signature' }, { kind: 'unknown' }],
    });
  });

  it('lets other work run before each signature is decoded', async () => {
    const authority = await makeSealer({ name: 'Times' });
    const early = timestamped(authority, plainPdf());
    const last = timestamped(authority, timestamped(authority, early));
    const [one, three] = [await turnsDuring(sealOf(early)), await turnsDuring(sealOf(last))];
    // Two more signatures are found, and decoded.
    expect(three - one).toBe(4);
  });

  it('decodes no signature after it was aborted', async () => {
    const pdf = timestamped(await makeSealer({ name: 'Times' }), plainPdf());
    await expect(checkedSealOf(pdf, AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' });
    expect(readsOfDigits(pdf)).toHaveLength(0);
  });
});
