import type { HistoryEntry, SignerRecord } from '../../model.ts';
import { oneLine } from '../text/untrusted.ts';
import { FLOW, type Flow } from './flow.ts';
import { baseline, COLORS, drawLine, STYLES, type TextStyle } from './pen.ts';
import { toSeconds } from './times.ts';

const COLUMNS = {
  number: FLOW.left,
  time: FLOW.left + 22,
  what: FLOW.left + 116,
  who: { x: FLOW.left + 206, width: FLOW.right - FLOW.left - 206 },
} as const;

const HEADS: Parameters<Flow['heads']>[0] = [
  ['Time (UTC)', COLUMNS.time],
  ['Event', COLUMNS.what],
  ['Who', COLUMNS.who.x],
];

const LINE = 10.5;
const MAX_LINES = 4;
const SMALL: TextStyle = { ...STYLES.small, size: 7.8, leading: LINE };
const INK: TextStyle = { ...SMALL, color: COLORS.ink };

/** Draws the envelope's history in order. */
export function drawHistoryTable(
  flow: Flow,
  history: readonly HistoryEntry[],
  signers: readonly SignerRecord[],
): void {
  flow.heading(`History (${history.length})`, 70);
  flow.heads(HEADS, 4);
  for (const [index, entry] of history.entries()) drawEntry(flow, entry, index + 1, signers);
}

function drawEntry(flow: Flow, entry: HistoryEntry, number: number, signers: readonly SignerRecord[]): void {
  const signer = signers.find(({ id }) => id === entry.signerId);
  const about = [
    ...(signer ? [`${oneLine(signer.name)} (${oneLine(signer.email)})`] : []),
    ...(entry.detail === null ? [] : [oneLine(entry.detail)]),
  ];
  const { lines } = flow.type.fit(about, INK.use, {
    width: COLUMNS.who.width,
    height: MAX_LINES * INK.size,
    largest: INK.size,
    smallest: INK.size,
  });
  const height = Math.max(1, lines.length) * LINE + 5;
  if (flow.ensureSpace(height)) flow.heads(HEADS, 4);

  const { top } = flow;
  const y = baseline(top, INK);
  drawLine(flow, `${number}`, SMALL, { x: COLUMNS.number, y });
  drawLine(flow, toSeconds(entry.at) ?? oneLine(entry.at), INK, { x: COLUMNS.time, y });
  drawLine(flow, HISTORY_WORDS[entry.what], INK, { x: COLUMNS.what, y });
  for (const [index, text] of lines.entries())
    drawLine(flow, text, INK, { x: COLUMNS.who.x, y: baseline(top + index * LINE, INK) });
  flow.top += height - 2.5;
  flow.rule(2.5);
}

/** The wording of each event on the certificate. */
const HISTORY_WORDS: Readonly<Record<HistoryEntry['what'], string>> = {
  created: 'Envelope created',
  sent: 'Envelope sent',
  notified: 'Request sent',
  reminded: 'Reminder sent',
  viewed: 'Document viewed',
  signed: 'Document signed',
  declined: 'Declined',
  completed: 'Envelope completed',
  cancelled: 'Envelope cancelled',
  expired: 'Envelope expired',
};
