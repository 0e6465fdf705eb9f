import type { FileResult } from '../documents/download.ts';
import type { ObjectDescription } from '../documents/object-facts.ts';
import type { Terminal } from './terminal.ts';
import { safeLine } from './text.ts';
import { relativeTime } from './time.ts';

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

/** `812 B`, `26.4 KB`, `1.2 MB`. */
export function bytesInWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} KB`;
  return bytes < 1_000_000_000
    ? `${(bytes / 1_000_000).toFixed(1)} MB`
    : `${(bytes / 1_000_000_000).toFixed(2)} GB`;
}

/** What the bucket says of an object; in a pipe tab-separated: key, bytes, time, ETag, type. */
export function renderObject(facts: ObjectDescription, terminal: Terminal, now: number): string {
  const { key, size, etag, contentType, lastModified } = facts;
  if (!terminal.outIsTty)
    return `${[key, String(size ?? ''), lastModified ?? '', etag ?? '', contentType ?? ''].map(safeLine).join('\t')}\n`;
  const type = contentType === null ? '' : `  ${safeLine(contentType)}`;
  const more = terminal.style('dim', `${type}  ETag ${safeLine(etag ?? 'none')}`);
  return `${safeLine(key)}  ${bytesInWords(size ?? 0)}  ${relativeTime(lastModified, now)}${more}\n`;
}
