import { durationInWords } from '../../kernel/duration.ts';

/** Formats a share (0–1) as a percentage, and null as a dash. */
export function percentText(share: number | null): string {
  return share === null ? '–' : `${Math.round(share * 100)}%`;
}

/** Formats a duration in words, and null as a dash. */
export function durationText(ms: number | null): string {
  return ms === null ? '–' : durationInWords(ms);
}
