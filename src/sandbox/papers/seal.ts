import { CryptoKeySigner, PDF } from '@libpdf/core';
import type { SealKey } from './seal-key.ts';

/**
 * The paper with a PAdES B-B seal over all of it. The same paper, key and time (ISO 8601) give the same bytes: the
 * signature scheme has no chance in it.
 */
export async function sealPaper(paper: Uint8Array, key: SealKey, at: string): Promise<Uint8Array> {
  const pdf = await PDF.load(paper);
  const { bytes } = await pdf.sign({
    signer: new CryptoKeySigner(key.privateKey, key.certificate, 'RSA', 'RSASSA-PKCS1-v1_5'),
    reason: 'Sealed when the last signer had signed',
    signingTime: new Date(at),
    fieldName: 'EsignSeal',
    subFilter: 'ETSI.CAdES.detached',
    level: 'B-B',
  });
  return bytes;
}
