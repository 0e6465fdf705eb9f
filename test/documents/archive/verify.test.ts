import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { updateManifest } from '../../../src/documents/archive/manifest.ts';
import {
  type ArchiveVerifyOptions,
  type VerifiedFile,
  verifyDocuments,
} from '../../../src/documents/archive/verify.ts';
import { newFolder } from '../../support/folder.ts';
import {
  makeSealer,
  plainPdf,
  type Sealer,
  sealed as sealedPdf,
  timestamped,
} from '../../support/sealing.ts';
import { hasLinks } from '../../support/system.ts';

const sha256 = (content: Uint8Array | string) => createHash('sha256').update(content).digest('hex');
let dir: string;
let plain: Uint8Array;
let sealed: Uint8Array;
let fingerprint: string;
let sealer: Sealer;

beforeAll(async () => {
  plain = plainPdf();
  sealer = await makeSealer({ name: 'Service' });
  ({ fingerprint } = sealer);
  sealed = sealedPdf(sealer);
});
beforeEach(() => {
  dir = newFolder();
});

const at = (path: string) => join(dir, ...path.split('/'));

async function put(path: string, content: Uint8Array | string): Promise<void> {
  await mkdir(join(at(path), '..'), { recursive: true });
  await writeFile(at(path), content);
}

async function putList(folder: string, ...lines: readonly (readonly [string, string])[]): Promise<void> {
  await put(`${folder}/SHA256SUMS`, lines.map(([content, name]) => `${sha256(content)}  ${name}\n`).join(''));
}

interface Options extends Omit<ArchiveVerifyOptions, 'known'> {
  pin?: string;
  sealedBy?: string[];
}

/** `path list code` of each file. */
async function verify(places: string | string[], options: Options = {}): Promise<string[]> {
  const { pin, sealedBy = [] } = options;
  const known = { authorities: [], pin, sealedBy };
  const found: string[] = [];
  for await (const file of verifyDocuments([places].flat().map(at), { known, ...options })) {
    const path = file.path === null ? '-' : relative(dir, file.path).split(sep).join('/');
    found.push(`${path} ${file.list} ${file.error?.code ?? 'ok'}`);
  }
  return found;
}

describe('a file', () => {
  it('is compared with SHA256SUMS in its folder and in all parent folders', async () => {
    await put('a/2026-03/x.pdf', 'replaced');
    await putList('a', ['original', '2026-03/x.pdf']);
    expect(await verify('a/2026-03/x.pdf')).toEqual(['a/2026-03/x.pdf changed STORAGE_CORRUPT']);
    expect(await verify('a/2026-03')).toEqual(['a/2026-03/x.pdf changed STORAGE_CORRUPT']);
    expect(await verify('a')).toEqual(['a/2026-03/x.pdf changed STORAGE_CORRUPT']);
    await put('a/2026-03/x.pdf', 'original');
    expect(await verify('a/2026-03/x.pdf')).toEqual(['a/2026-03/x.pdf ok ok']);
  });

  it('must match every list that names it', async () => {
    await put('a/b/x.pdf', 'new');
    await putList('a/b', ['new', 'x.pdf']);
    await putList('a', ['old', 'b/x.pdf']);
    expect(await verify('a/b/x.pdf')).toEqual(['a/b/x.pdf changed STORAGE_CORRUPT']);
    expect(await verify('a/b')).toEqual(['a/b/x.pdf changed STORAGE_CORRUPT']);
  });

  it('must match every line of a list that names it', async () => {
    await put('a/x.pdf', 'new');
    await putList('a', ['new', 'x.pdf'], ['old', 'x.pdf']);
    expect(await verify('a/x.pdf')).toEqual(['a/x.pdf changed STORAGE_CORRUPT']);
    expect(await verify('a')).toEqual(['a/x.pdf changed STORAGE_CORRUPT']);
  });

  it('is found under a name that starts with ./', async () => {
    await put('a/x.pdf', 'new');
    await putList('a', ['old', './x.pdf']);
    expect(await verify('a/x.pdf')).toEqual(['a/x.pdf changed STORAGE_CORRUPT']);
  });
});

describe('a PDF that was cut off', () => {
  const cut = () => sealed.subarray(0, 200);

  it('fails although it has no seal anymore, unless its list names it so', async () => {
    await put('whole/a.pdf', plain);
    await put('cut/a.pdf', cut());
    expect(await verify(['whole', 'cut'])).toEqual([
      'whole/a.pdf unlisted ok',
      'cut/a.pdf unlisted STORAGE_CORRUPT',
    ]);
    await putList('cut', [cut().toString(), 'b.pdf']);
    await put('listed/a.pdf', cut());
    await put('listed/SHA256SUMS', `${sha256(cut())}  a.pdf\n`);
    expect(await verify('listed')).toEqual(['listed/a.pdf ok ok']);
  });
});

describe('a folder', () => {
  it('includes its subfolders: PDFs, and the lists there', async () => {
    await put('a/sub/nested.pdf', 'x');
    await put('a/sub/deep/y.pdf', 'y');
    await putList('a/sub/deep', ['other', 'y.pdf'], ['z', 'z.txt']);
    expect(await verify('a')).toEqual([
      'a/sub/deep/y.pdf changed STORAGE_CORRUPT',
      'a/sub/deep/z.txt missing STORAGE_CORRUPT',
      'a/sub/nested.pdf unlisted ok',
    ]);
  });

  it("includes files that a parent's list names there, even if they are missing", async () => {
    await put('a/sub/x.pdf', 'x');
    await putList('a', ['x', 'sub/x.pdf'], ['y', 'sub/gone.pdf'], ['z', 'other/z.pdf']);
    expect(await verify('a/sub')).toEqual(['a/sub/x.pdf ok ok', 'a/sub/gone.pdf missing STORAGE_CORRUPT']);
  });

  it.runIf(hasLinks)('follows no link to a folder', async () => {
    await put('a/x.pdf', 'x');
    await symlink(at('a'), at('a/around'));
    expect(await verify('a')).toEqual(['a/x.pdf unlisted ok']);
  });
});

describe('a rewritten list', () => {
  it('has the new hash on each line for the file', async () => {
    await put('a/x.pdf', 'new');
    await putList('a', ['old', './x.pdf'], ['older', 'x.pdf']);
    await updateManifest(at('a'), new Map([['x.pdf', sha256('new')]]));
    expect(await verify('a/x.pdf')).toEqual(['a/x.pdf ok ok']);
  });
});

describe('a required seal', () => {
  const REQUIRED = { requireSeal: true };

  it('fails every listed file that is not a sealed PDF', async () => {
    await put('a/sealed.pdf', sealed);
    await put('a/plain.pdf', plain);
    await put('a/junk.pdf', Buffer.concat([Buffer.from('junk\n'), sealed]));
    await put('a/empty.pdf', '');
    await put('a/notes.txt', 'text');
    const names = ['sealed.pdf', 'plain.pdf', 'junk.pdf', 'empty.pdf', 'notes.txt'].map(
      (name) => `a/${name}`,
    );
    expect(await verify(names, REQUIRED)).toEqual([
      'a/sealed.pdf unlisted ok',
      'a/plain.pdf unlisted SEAL_MISSING',
      'a/junk.pdf unlisted SEAL_UNREADABLE',
      'a/empty.pdf unlisted SEAL_MISSING',
      'a/notes.txt unlisted SEAL_MISSING',
    ]);
    expect((await verify(names)).filter((line) => !line.endsWith('ok'))).toEqual([
      'a/junk.pdf unlisted SEAL_UNREADABLE',
    ]);
  });

  it('applies to the PDFs of a folder, not to its other files', async () => {
    await put('a/sealed.pdf', sealed);
    await put('a/empty.pdf', '');
    await put('a/envelope.json', '{}');
    await putList('a', ['{}', 'envelope.json']);
    expect(await verify('a', REQUIRED)).toEqual([
      'a/envelope.json ok ok',
      'a/empty.pdf unlisted SEAL_MISSING',
      'a/sealed.pdf unlisted ok',
    ]);
  });

  it('exempts the unsigned original if a list names it', async () => {
    await put('a/env_1.document.pdf', plain);
    expect(await verify('a', REQUIRED)).toEqual(['a/env_1.document.pdf unlisted SEAL_MISSING']);
    await updateManifest(at('a'), new Map([['env_1.document.pdf', sha256(plain)]]));
    expect(await verify('a', REQUIRED)).toEqual(['a/env_1.document.pdf ok ok']);
    expect(await verify('a/env_1.document.pdf', REQUIRED)).toEqual(['a/env_1.document.pdf ok ok']);
  });
});

describe('a pinned seal', () => {
  it('fails signed documents and certificates without a seal', async () => {
    for (const name of ['x.signed.pdf', 'x.certificate.pdf', 'x.pdf', 'designed.pdf'])
      await put(`a/${name}`, plain);
    await put('a/text.signed.pdf', 'text');
    const pin = fingerprint;
    expect(await verify('a', { pin })).toEqual([
      'a/designed.pdf unlisted ok',
      'a/text.signed.pdf unlisted SEAL_MISSING',
      'a/x.certificate.pdf unlisted SEAL_MISSING',
      'a/x.pdf unlisted ok',
      'a/x.signed.pdf unlisted SEAL_MISSING',
    ]);
    expect((await verify('a')).every((line) => line.endsWith('unlisted ok'))).toBe(true);
  });

  it('allows any seal on the original', async () => {
    await put('a/x.document.pdf', sealed);
    const pin = 'ab'.repeat(32);
    expect(await verify('a', { pin })).toEqual(['a/x.document.pdf unlisted SEAL_OTHER']);
    await updateManifest(at('a'), new Map([['x.document.pdf', sha256(sealed)]]));
    expect(await verify('a', { pin })).toEqual(['a/x.document.pdf ok ok']);
  });

  it('fails a seal of anyone else', async () => {
    await put('a/x.pdf', sealed);
    expect(await verify('a', { sealedBy: [fingerprint] })).toEqual(['a/x.pdf unlisted ok']);
    const sealedBy = ['ab'.repeat(32)];
    expect(await verify('a', { sealedBy })).toEqual(['a/x.pdf unlisted SEAL_UNTRUSTED']);
    expect(await verify('a', { sealedBy, pin: fingerprint })).toEqual(['a/x.pdf unlisted SEAL_UNTRUSTED']);
    expect(await verify('a', { sealedBy: [...sealedBy, fingerprint] })).toEqual(['a/x.pdf unlisted ok']);
  });
});

describe('a sealed part', () => {
  /** Writes a file to which data was added later. Returns what was sealed. */
  async function putExtended(path: string): Promise<Uint8Array> {
    const part = sealedPdf(sealer, plainPdf(path));
    await put(path, timestamped(sealer, part));
    return part;
  }
  async function filesOf(...places: string[]): Promise<VerifiedFile[]> {
    const files: VerifiedFile[] = [];
    const options = { known: { authorities: [], pin: undefined, sealedBy: [] }, sealedPartDir: at('parts') };
    for await (const file of verifyDocuments(places.map(at), options)) files.push(file);
    return files;
  }

  it('is written to the same subfolder, whatever other files have that name', async () => {
    const folders = ['2024', '2025', '2026/may'];
    const parts: Uint8Array[] = [];
    for (const folder of folders) parts.push(await putExtended(`all/${folder}/lease.pdf`));
    for (const run of ['first', 'second']) {
      const errors = (await filesOf('all')).map(({ error }) => error);
      expect(errors, run).toEqual(Array(3).fill(null));
    }
    for (const [index, folder] of folders.entries())
      expect(await readFile(at(`parts/${folder}/lease.sealed.pdf`))).toEqual(parts[index]);
    expect(await readdir(at('parts/2024'))).toEqual(['lease.sealed.pdf']);
  });

  it('is reported if its name is taken, and the findings about the file are kept', async () => {
    const [a, b] = [await putExtended('a/lease.pdf'), await putExtended('b/lease.pdf')];
    const files = await filesOf('a', 'b');
    for (const file of files) expect(file).toMatchObject({ list: 'unlisted', seal: { state: 'intact' } });
    const [written, ...rest] = files.filter(({ error }) => error === null);
    expect([rest, await readdir(at('parts'))]).toEqual([[], ['lease.sealed.pdf']]);
    const [failed] = files.filter(({ error }) => error !== null);
    expect(failed?.error).toMatchObject({
      code: 'SEAL_EXTENDED',
      message: expect.stringContaining('different content') as unknown,
    });
    expect(await readFile(at('parts/lease.sealed.pdf'))).toEqual(written?.path === at('a/lease.pdf') ? a : b);
  });

  it.runIf(hasLinks)('never leaves its folder through a link', async () => {
    await putExtended('all/sub/lease.pdf');
    await mkdir(at('outside'));
    await mkdir(at('parts'));
    await symlink(at('outside'), at('parts/sub'));
    const [file] = await filesOf('all');
    expect(file).toMatchObject({ list: 'unlisted', seal: { state: 'intact' } });
    expect(file?.error?.message).toContain('symbolic link');
    expect(await readdir(at('outside'))).toEqual([]);
  });
});
