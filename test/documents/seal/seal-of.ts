import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkSeal, type Seal, type SealWithSigner } from '../../../src/documents/seal/check-seal.ts';
import type { Sealer } from '../../support/sealing.ts';
import type { Expected } from './forgeries.ts';

/** Checks the seal of these bytes. */
export async function checkedSealOf(pdf: Uint8Array, signal?: AbortSignal): Promise<SealWithSigner | null> {
  const folder = mkdtempSync(join(tmpdir(), 'esign-seal-'));
  try {
    writeFileSync(join(folder, 'file.pdf'), pdf);
    const file = openSync(join(folder, 'file.pdf'), 'r');
    try {
      return await checkSeal(file, signal);
    } finally {
      closeSync(file);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export async function sealOf(pdf: Uint8Array): Promise<Seal | undefined> {
  return (await checkedSealOf(pdf))?.seal;
}

/** Returns the result in one word. */
export async function stateOf(pdf: Uint8Array): Promise<Expected> {
  const seal = await sealOf(pdf);
  if (seal === undefined) return 'no PDF';
  return seal.state === 'intact' ? (seal.coverage ?? 'unreadable') : seal.state;
}

/** Returns true if the file is whole and has the seal of this signer. */
export async function isAccepted(pdf: Uint8Array, { fingerprint }: Sealer): Promise<boolean> {
  const seal = await sealOf(pdf);
  return seal?.state === 'intact' && seal.coverage === 'whole' && seal.fingerprint === fingerprint;
}
