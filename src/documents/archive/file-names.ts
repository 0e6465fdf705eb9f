import { createHash } from 'node:crypto';
import type { DocumentKind } from '../../kernel/vocabulary.ts';
import { MANIFEST_NAME } from './manifest.ts';

/** Reserved device names on Windows, with or without an extension. */
const RESERVED = /^(con|prn|aux|nul|conin\$|conout\$|clock\$|com[\d¹²³]|lpt[\d¹²³])(\.|$)/i;
const UNWRITABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}<>:"/\\|?*]/gu;
/** The maximum length of a name. It leaves room for suffixes such as `.part.json` within the 255 bytes that file systems allow. */
const MAX_NAME_BYTES = 200;

/** Returns a document's file name when no --name-template is given. */
export function defaultFileName(envelopeId: string, what: DocumentKind): string {
  return safeFileName(`${envelopeId}.${what}.pdf`);
}

/** Returns a path part that is valid on every system: no separators or control characters, not only dots, at most 200 bytes. */
export function safeFileName(name: string): string {
  let safe = name
    .normalize('NFC')
    .replace(UNWRITABLE, '_')
    .replace(/[. ]+$/, '')
    .replace(/^[. ]+/, '_');
  // An object must not overwrite the folder's own files, or what was sealed in another one.
  if (RESERVED.test(safe) || safe.toUpperCase() === MANIFEST_NAME) safe = `_${safe}`;
  safe = safe.replace(/(?<=\.sealed)(?=\.pdf$)/i, '_');
  if (/\.part(\.json|\.lock)?$/i.test(safe)) safe = `${safe}_`;
  return safe === '' ? '_' : shortened(safe);
}

/** Returns the same text for all names that some disk takes for one. */
export function canonicalName(fileName: string): string {
  return fileName.normalize('NFC').toLowerCase();
}

/** Shortens the stem, keeps the extension, and adds a hash so that two long names stay different. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  const extension = /(\.[A-Za-z0-9]{1,16}){1,2}$/.exec(name)?.[0] ?? '';
  const hash = `~${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
  let stem = name.slice(0, name.length - extension.length);
  while (Buffer.byteLength(stem + hash + extension) > MAX_NAME_BYTES) stem = [...stem].slice(0, -1).join('');
  return stem + hash + extension;
}
