import type { FileResult } from '../documents/download.ts';
import type { VerifiedFile } from '../documents/verify.ts';
import type { Terminal } from './terminal.ts';
import { safeLine } from './text.ts';

/** A fetched file as a line; in a pipe tab-separated: status, path, bytes, sha256, key. */
export function renderFile(file: FileResult, terminal: Terminal): string {
  const { status, path, bytes, sha256, key } = file;
  if (!terminal.outIsTty) {
    return `${[status, path ?? '', String(bytes ?? ''), sha256 ?? '', key ?? ''].map(safeLine).join('\t')}\n`;
  }
  const done = status === 'unchanged' ? 'Unchanged' : 'Saved';
  const sum = terminal.style('dim', `sha256 ${sha256?.slice(0, 16) ?? ''}…`);
  return `${terminal.style('green', '✓')} ${done} ${safeLine(path ?? '')}  ${bytesInWords(bytes ?? 0)}  ${sum}\n`;
}

/** A checked file as a line; in a pipe tab-separated: status, path, bytes, sha256. */
export function renderVerified(file: VerifiedFile, terminal: Terminal): string {
  const { status, path, bytes, sha256, error } = file;
  if (!terminal.outIsTty)
    return `${[status, path ?? error ?? '', String(bytes ?? ''), sha256 ?? ''].map(safeLine).join('\t')}\n`;
  if (status === 'ok') return `${terminal.style('green', '✓')} ${safeLine(path ?? '')}\n`;
  const where = path === null ? '' : `${safeLine(path)}: `;
  return `${terminal.style('red', '✗')} ${where}${safeLine(error ?? status)}\n`;
}

/** `812 B`, `26.4 KB`, `1.2 MB`. */
export function bytesInWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} KB`;
  return bytes < 1_000_000_000
    ? `${(bytes / 1_000_000).toFixed(1)} MB`
    : `${(bytes / 1_000_000_000).toFixed(2)} GB`;
}
