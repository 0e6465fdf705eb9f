import { CryptoKeySigner, PDF } from '@libpdf/core';
import type { SealKey } from './seal-key.ts';

/**
 * Returns the document with a PAdES B-B seal over all of it. The same document, key, and time (ISO 8601) give the same bytes, because the
 * signature scheme is deterministic.
 */
export async function sealPdf(bytes: Uint8Array, key: SealKey, at: string): Promise<Uint8Array> {
  const pdf = await PDF.load(bytes);
  const sealed = await pdf.sign({
    signer: new CryptoKeySigner(key.privateKey, key.certificate, 'RSA', 'RSASSA-PKCS1-v1_5'),
    reason: 'Sealed after the last signer signed',
    signingTime: new Date(at),
    fieldName: 'EsignSeal',
    subFilter: 'ETSI.CAdES.detached',
    level: 'B-B',
  });
  return sealed.bytes;
}
