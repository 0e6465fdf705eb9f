import type { CompatibilityFinding, CompatibilityReport } from '../../compatibility/findings.ts';
import { counted } from '../../kernel/duration.ts';

/** Renders the report as Markdown, to be sent to the vendor. */
export function reportPage({
  contradictions,
  openPoints,
  documented,
  neverSeen,
}: CompatibilityReport): string {
  const lines = [
    '# Compatibility with the E-Sign Service API v1',
    '',
    'Differences between the responses of the service and its API document. This file contains shapes only: no IDs, names, or addresses.',
    '',
    `## Contradictions (${contradictions.length})`,
    '',
    ...(contradictions.length === 0 ? ['None.'] : contradictions.flatMap((one) => itemOf(one, one.what))),
    '',
    `## Open points (${openPoints.length})`,
    '',
    'The document does not mention these.',
    '',
    ...openPoints.flatMap((one) => itemOf(one, `${one.what}: ${one.seen.join('; ')}`)),
    '',
    `## As documented (${documented.length})`,
    '',
    ...documented.map(({ what, times }) => `- ${escaped(what)}: ${counted(times, 'time')}`),
    '',
    `## Never seen (${neverSeen.length})`,
    '',
    ...neverSeen.map(({ what }) => `- ${escaped(what)}`),
  ];
  return `${lines.join('\n')}\n`;
}

function itemOf({ where, since, times }: CompatibilityFinding, text: string): string[] {
  return [
    `- ${escaped(text)}`,
    `  - Where: ${escaped(where)}`,
    `  - Seen: ${counted(times, 'time')} since ${since}`,
  ];
}

function escaped(text: string): string {
  return text.replaceAll(/[\\`*_<>[\]|]/g, '\\$&');
}
