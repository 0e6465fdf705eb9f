import type { ObjectDescription } from '../../documents/bucket/object-facts.ts';
import type { FileResult } from '../../documents/download/file.ts';
import { bytesInWords } from '../../output/bytes.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeLine } from '../../output/text.ts';
import { relativeTime } from '../../output/time.ts';

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

/** What the bucket says of an object; in a pipe tab-separated: key, bytes, time, ETag, type. */
export function renderObject(facts: ObjectDescription, terminal: Terminal, now: number): string {
  const { key, size, etag, contentType, lastModified } = facts;
  if (!terminal.outIsTty)
    return `${[key, String(size ?? ''), lastModified ?? '', etag ?? '', contentType ?? ''].map(safeLine).join('\t')}\n`;
  const type = contentType === null ? '' : `  ${safeLine(contentType)}`;
  const more = terminal.style('dim', `${type}  ETag ${safeLine(etag ?? 'none')}`);
  return `${safeLine(key)}  ${bytesInWords(size ?? 0)}  ${relativeTime(lastModified, now)}${more}\n`;
}
