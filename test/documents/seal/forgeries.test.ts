import { beforeAll, describe, expect, it } from 'vitest';
import { flipped, makeSealer, sealed } from '../../support/sealing.ts';
import { forgeries, gapIn, genuine, makeSigners, type Signers } from './forgeries.ts';
import { isAccepted, sealOf, stateOf } from './seal-of.ts';

let signers: Signers;
beforeAll(async () => {
  signers = await makeSigners();
});

describe('the seal of a file', () => {
  it('gets the right result for files of honest signers', async () => {
    for (const [name, expected, pdf] of genuine(signers))
      expect([name, await stateOf(pdf)]).toEqual([name, expected]);
  });

  it('accepts no forgery, and reports the right reason for each', async () => {
    const all = [...forgeries(signers)];
    expect(all.length).toBeGreaterThan(200);
    expect(new Set(all.map(([name]) => name)).size).toBe(all.length);
    for (const [name, expected, pdf] of all) {
      expect([name, await stateOf(pdf)]).toEqual([name, expected]);
      // A file that is cut back to an earlier seal is the file from before the later one.
      if (!name.startsWith('a seal cut back'))
        expect([name, await isAccepted(pdf, signers.service)]).toEqual([name, false]);
    }
  });

  it('shows the signer, the time, and the sizes of the last signature that is not a timestamp', async () => {
    const { service, stranger } = signers;
    const pdf = sealed(service, sealed(stranger));
    expect(await sealOf(pdf)).toMatchObject({
      subject: 'CN=Service',
      issuer: 'CN=Service',
      fingerprint: service.fingerprint,
      time: '2026-03-01T10:20:30.000Z',
      sealedBytes: pdf.length,
      addedBytes: 0,
      reason: null,
      others: [{ kind: 'signature', state: 'not checked' }],
    });
    const longer = await sealOf(Buffer.concat([pdf, Buffer.from('more')]));
    expect(longer).toMatchObject({ coverage: 'extended', sealedBytes: pdf.length, addedBytes: 4 });
  });

  it('is intact if the certificate has no name', async () => {
    const seal = await sealOf(sealed(await makeSealer({ name: '' })));
    expect(seal).toMatchObject({ state: 'intact', coverage: 'whole', subject: null, issuer: null });
  });

  it('is not accepted with any other bit in the signature', async () => {
    const pdf = sealed(signers.service);
    const { from } = gapIn(pdf);
    const cms = Buffer.from(pdf.toString('latin1', from + 1, from + 2_001), 'hex');
    for (let at = 0; at < cms.length; at += 7) {
      const changed = Buffer.from(pdf);
      changed.write(flipped(cms, at).toString('hex'), from + 1, 'latin1');
      expect([at, await isAccepted(changed, signers.service)]).toEqual([at, false]);
    }
  });
});

describe('a byte range anywhere in a large file', () => {
  const BLOCK = 256 * 1024;
  it.each([BLOCK - 11, BLOCK - 10, BLOCK - 5, BLOCK - 1, BLOCK, 2 * BLOCK - 4])(
    'is found at %i',
    async (at) => {
      const pdf = Buffer.alloc(2 * BLOCK + 100, 'x');
      pdf.write('%PDF-1.7\n');
      expect(await stateOf(pdf)).toBe('unsigned');
      pdf.write('/ByteRange [0 1 2 3]', at, 'latin1');
      expect(await stateOf(pdf)).toBe('unreadable');
    },
  );
});
