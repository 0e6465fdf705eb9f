import { counted } from '../../kernel/duration.ts';
import { bytesInWords } from '../../output/bytes.ts';
import { withHangingIndent } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeLine } from '../../output/text.ts';
import type { VerifiedFile } from '../archive/verify.ts';
import type { FileResult } from '../download/download-file.ts';
import type { SealWithTrust } from '../seal/judge.ts';

/** Renders a downloaded file as a line. In a pipe, it is tab-separated: status, path, bytes, sha256, key. */
export function renderFile(file: FileResult, terminal: Terminal, seal: SealWithTrust | null = null): string {
  const { status, path, bytes, sha256, key } = file;
  if (!terminal.outIsTty) {
    return `${[status, path ?? '', String(bytes ?? ''), sha256 ?? '', key ?? ''].map(safeLine).join('\t')}\n`;
  }
  const done = status === 'unchanged' ? 'Unchanged' : 'Saved';
  const sealed = seal === null || seal.state === 'unsigned' ? '' : `, ${safeLine(sealInWords(seal))}`;
  const sum = terminal.style('dim', `sha256 ${sha256?.slice(0, 16) ?? ''}…${sealed}`);
  const head = `${terminal.style('green', '✓')} ${done} ${safeLine(path ?? '')}  ${bytesInWords(bytes ?? 0)}`;
  return `${withHangingIndent(head, ` ${sum}`, terminal)}\n`;
}

/**
 * Renders a checked file as a line, marked with `–` if neither a list nor a seal covers it. In a pipe, it is tab-separated: list,
 * path, sha256, seal, coverage, trust, sealed by.
 */
export function renderVerified({ list, path, sha256, seal }: VerifiedFile, terminal: Terminal): string {
  if (!terminal.outIsTty) {
    const { state = '', coverage, trust, subject } = seal ?? {};
    const columns = [list, path ?? '', sha256 ?? '', state, coverage ?? '', trust ?? '', subject ?? ''];
    return `${columns.map(safeLine).join('\t')}\n`;
  }
  const facts = [
    ...(list === 'unlisted' ? ['not in SHA256SUMS'] : []),
    ...(seal === null ? [] : [safeLine(sealInWords(seal))]),
  ].join('  ');
  const isUnproven = list === 'unlisted' && (seal === null || seal.state === 'unsigned');
  const mark = isUnproven ? terminal.style('dim', '–') : terminal.style('green', '✓');
  const head = `${mark} ${safeLine(path ?? '')}`;
  return `${facts === '' ? head : withHangingIndent(head, ` ${terminal.style('dim', facts)}`, terminal)}\n`;
}

/** Describes a seal in a phrase such as `sealed by X on 2026-03-01, same sealer as before (pinned)`. */
function sealInWords({ state, subject, time, trust, coverage, addedBytes, others }: SealWithTrust): string {
  if (state === 'unsigned') return 'no seal';
  if (state === 'unreadable') return 'unreadable seal';
  const name = sealerName(subject);
  const added =
    coverage === 'extended'
      ? `; ${counted(addedBytes ?? 0, 'byte')} ${addedBytes === 1 ? 'was' : 'were'} added after sealing`
      : '';
  const unchecked = others.length === 0 ? '' : `; ${counted(others.length, 'other signature')} not checked`;
  return `${state === 'changed' ? 'changed since it was ' : ''}sealed by ${name}${time === null ? '' : ` on ${time.slice(0, 10)}`}, ${TRUST[trust ?? 'unknown']}${added}${unchecked}`;
}

/** Describes who sealed a file. */
export function sealerInWords({ subject, trust }: SealWithTrust): string {
  return `${sealerName(subject)}, ${TRUST[trust ?? 'unknown']}`;
}

const TRUST: Readonly<Record<NonNullable<SealWithTrust['trust']>, string>> = {
  pinned: 'same sealer as before (pinned)',
  trusted: 'trusted',
  other: 'not the pinned certificate',
  unknown: 'sealer not verified',
};

/** Returns the common name in a subject, or the whole subject. */
export function sealerName(subject: string | null): string {
  if (subject === null) return 'an unnamed signer';
  return /CN=((?:\\.|[^,\\])*)/.exec(subject)?.[1]?.replace(/\\(.)/g, '$1') ?? subject;
}
