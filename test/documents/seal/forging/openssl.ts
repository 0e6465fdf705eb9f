import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPdf } from '../../../../src/sandbox/documents/pdf/pdf.ts';
import { objectText, partsOf, updated } from '../../../../src/sandbox/documents/tampering.ts';

/** Bytes of a signature, in hexadecimal digits. */
const ROOM = 12_000;
const KEYS = {
  rsa: ['rsa:2048'],
  ecdsa: ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
  p384: ['ec', '-pkeyopt', 'ec_paramgen_curve:P-384'],
} as const;
export type KeyName = keyof typeof KEYS;

let folder = '';
export const at = (name: string) => join(folder, name);
export const openssl = (...words: string[]) =>
  execFileSync('openssl', words, { stdio: ['ignore', 'pipe', 'ignore'] });

/** Makes a key and a certificate for each kind of signature, and for a timestamp authority, in a temporary folder. */
export function createKeys(): void {
  folder = mkdtempSync(join(tmpdir(), 'esign-others-'));
  for (const [name, kind] of Object.entries(KEYS)) createKey(name, `/CN=${name}/O=Others`, kind);
  createKey('tsa', '/CN=tsa', KEYS.rsa, ['-addext', 'extendedKeyUsage=critical,timeStamping']);
}

function createKey(name: string, subject: string, kind: readonly string[], more: readonly string[] = []) {
  const files = ['-keyout', at(`${name}.key`), '-out', at(`${name}.pem`)];
  openssl(
    ...['req', '-x509', '-nodes', '-days', '30', '-subj', subject, ...files, '-newkey', ...kind, ...more],
  );
}

export function removeKeys(): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Returns a PDF with one blank page. */
export async function blankPdf(): Promise<Buffer> {
  const blank = createPdf();
  blank.addSheet();
  const about = { title: 'x', subject: 'x', keywords: [], at: '2026-03-01T10:20:30.000Z' };
  return Buffer.from(await blank.save(about));
}

/** Makes a CMS signature of the file `covered`. */
export function signature(key: KeyName, ...options: string[]): Buffer {
  openssl(
    ...['cms', '-sign', '-binary', '-in', at('covered'), '-outform', 'DER', '-out', at('cms')],
    ...['-md', 'sha256', '-signer', at(`${key}.pem`), '-inkey', at(`${key}.key`), ...options],
  );
  return readFileSync(at('cms'));
}

/** Signs with openssl's CMS. */
export function signed(pdf: Buffer, subFilter: string, key: KeyName, ...options: string[]): Buffer {
  return sealedBy(pdf, subFilter, () => signature(key, ...options));
}

/** What is in an update with a signature, other than the signature. */
export interface Around {
  /** In the catalog. */
  catalog?: string;
  rect?: string;
  /** In the field of the signature. */
  field?: string;
  /** In the dictionary of the signature. */
  dict?: string;
  /** More objects. */
  objects?: Readonly<Record<number, string>>;
}

/** Adds a signature in an update of the file, as any signer does. `cms` makes it over the file `covered`. */
export function sealedBy(pdf: Buffer, subFilter: string, cms: () => Buffer, around: Around = {}): Buffer {
  const { rect = '[0 0 0 0]', objects = {} } = around;
  const { root, size } = partsOf(pdf);
  const text = pdf.toString('latin1');
  const known = /\/AcroForm (\d+) 0 R/.exec(text.slice(text.lastIndexOf('/AcroForm')))?.[1];
  const catalog = Number(root.split(' ')[0]);
  const form = known === undefined ? size + 2 : Number(known);
  const [field, dict] = [size, size + 1];
  const shown = objectText(pdf, catalog).replace(/\/AcroForm \d+ 0 R/, '');
  const before = /\/Fields \[([^\]]*)\]/.exec(text.slice(text.lastIndexOf('/Fields')))?.[1] ?? '';
  const fields = `${before} ${field} 0 R`.trim();
  const open = updated(pdf, {
    [catalog]: `${shown.slice(0, shown.lastIndexOf('>>'))} /AcroForm ${form} 0 R ${around.catalog ?? ''} >>`,
    [form]: `<< /Fields [${fields}] /SigFlags 3 >>`,
    [field]: `<< /FT /Sig /T (Seal${field}) /V ${dict} 0 R /Type /Annot /Subtype /Widget /Rect ${rect} ${around.field ?? ''} >>`,
    [dict]: `<< /Type /Sig /Filter /Adobe.PPKLite /SubFilter /${subFilter} ${around.dict ?? ''} /ByteRange [0 0000000000 0000000000 0000000000] /Contents <${'0'.repeat(ROOM)}> >>`,
    ...objects,
  });
  const gapStart = open.lastIndexOf(`<${'0'.repeat(ROOM)}>`);
  const gapEnd = gapStart + ROOM + 2;
  const numbers = [gapStart, gapEnd, open.length - gapEnd].map((one) => String(one).padEnd(10));
  open.write(`/ByteRange [0 ${numbers.join(' ')}]`, open.lastIndexOf('/ByteRange'), 'latin1');
  writeFileSync(at('covered'), Buffer.concat([open.subarray(0, gapStart), open.subarray(gapEnd)]));
  open.write(cms().toString('hex'), gapStart + 1, 'latin1');
  return open;
}

/** A revision with the certificate in a document security store, and additional catalog entries. */
export function withStore(pdf: Buffer, extra = ''): Buffer {
  const { root, size } = partsOf(pdf);
  const der = openssl('x509', '-in', at('rsa.pem'), '-outform', 'DER').toString('latin1');
  const text = pdf.toString('latin1');
  const form = /\/AcroForm \d+ 0 R/.exec(text.slice(text.lastIndexOf('/AcroForm')))?.[0];
  return updated(pdf, {
    [Number(root.split(' ')[0])]:
      `<< /Type /Catalog /Pages 1 0 R /Lang (en) ${form} /DSS << /Certs [${size} 0 R] >> ${extra} >>`,
    [size]: `<< /Length ${der.length} >>\nstream\n${der}\nendstream`,
  });
}

/** An RFC 3161 token over a digest, from a test authority. */
export function stamp(digest: string): Buffer {
  const settings = `serial=${at('serial')}\nsigner_digest=sha256\ndefault_policy=1.2.3\ndigests=sha256\ness_cert_id_alg=sha256`;
  writeFileSync(at('tsa.cnf'), `[tsa]\ndefault_tsa=t\n[t]\n${settings}\n`);
  writeFileSync(at('serial'), '01\n');
  openssl('ts', '-query', '-digest', digest, '-sha256', '-cert', '-no_nonce', '-out', at('query'));
  const key = ['-signer', at('tsa.pem'), '-inkey', at('tsa.key')];
  openssl(
    ...['ts', '-reply', '-config', at('tsa.cnf'), '-queryfile', at('query'), ...key],
    ...['-token_out', '-out', at('token')],
  );
  return readFileSync(at('token'));
}
