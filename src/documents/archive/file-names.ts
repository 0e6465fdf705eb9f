import { createHash } from 'node:crypto';
import { UsageError } from '../../kernel/errors.ts';
import { MANIFEST_NAME } from './manifest.ts';

/** Names that mean a device on Windows, with or without an extension. */
const RESERVED = /^(con|prn|aux|nul|conin\$|conout\$|clock\$|com[\d¹²³]|lpt[\d¹²³])(\.|$)/i;
const UNWRITABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}<>:"/\\|?*]/gu;
/** Leaves room for what is put behind a name (`.part.json`) within the 255 bytes that disks take. */
const LONGEST = 200;

/** One path part that is valid on every system: no separators, no control characters, no dots only, at most 200 bytes. */
export function safeFileName(name: string): string {
  let safe = name
    .normalize('NFC')
    .replace(UNWRITABLE, '_')
    .replace(/[. ]+$/, '')
    .replace(/^[. ]+/, '_');
  // Our own files in the folder are not to be replaced by an object's.
  if (RESERVED.test(safe) || safe.toUpperCase() === MANIFEST_NAME) safe = `_${safe}`;
  if (/\.part(\.json)?$/i.test(safe)) safe = `${safe}_`;
  return safe === '' ? '_' : shortened(safe);
}

/** Cuts the stem, keeps the extension, and keeps two long names apart. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= LONGEST) return name;
  const extension = /(\.[A-Za-z0-9]{1,16}){1,2}$/.exec(name)?.[0] ?? '';
  const mark = `~${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
  let stem = name.slice(0, name.length - extension.length);
  while (Buffer.byteLength(stem + mark + extension) > LONGEST) stem = [...stem].slice(0, -1).join('');
  return stem + mark + extension;
}

/** A file on its way to a name, and where it comes from, in words. */
export interface Named {
  fileName: string;
  source: string;
}

/**
 * Refuses names that would meet: the same one twice, also where a disk tells no case, or a file where another
 * one needs a folder.
 * @throws UsageError before anything is fetched.
 */
export function refuseCollisions(files: readonly Named[]): void {
  const owners = new Map<string, Named>();
  for (const file of files) {
    const key = canonical(file.fileName);
    const other = owners.get(key);
    if (other !== undefined) throw collision(file, other);
    owners.set(key, file);
  }
  for (const file of files) {
    const parts = canonical(file.fileName).split('/');
    for (let depth = 1; depth < parts.length; depth++) {
      const other = owners.get(parts.slice(0, depth).join('/'));
      if (other !== undefined) throw collision(file, other);
    }
  }
}

function canonical(fileName: string): string {
  return fileName.normalize('NFC').toLowerCase();
}

function collision(one: Named, other: Named): UsageError {
  const where = one.fileName === other.fileName ? one.fileName : `${other.fileName} and ${one.fileName}`;
  return new UsageError(
    `${other.source} and ${one.source} would be written to the same place (${where}). Nothing was fetched.`,
    { hint: 'Give a --name-template that tells them apart, with {envelopeId} and {what}, or {key}.' },
  );
}
