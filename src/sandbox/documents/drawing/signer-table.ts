import type { FieldRecord, SignerRecord } from '../../model.ts';
import type { Typesetter } from '../text/typesetter.ts';
import { oneLine } from '../text/untrusted.ts';
import { drawnSignature } from './filled-fields.ts';
import { FLOW, type Flow } from './flow.ts';
import { drawInk } from './ink.ts';
import { baseline, COLORS, drawFitted, drawLine, STYLES, type TextStyle } from './pen.ts';
import { toSeconds } from './times.ts';

/** The left edges and widths of the three columns. */
const COLUMNS = {
  who: { x: FLOW.left + 22, width: 150 },
  when: { x: FLOW.left + 178, width: 118 },
  how: { x: FLOW.left + 308, width: FLOW.width - 308 },
} as const;

const HEADS: Parameters<Flow['heads']>[0] = [
  ['Signer', COLUMNS.who.x],
  ['Times (UTC)', COLUMNS.when.x],
  ['Evidence', COLUMNS.how.x],
];

const LINE = 11;
const LABEL = 40;

/** The height for a drawn signature below the evidence, and the gap above it. */
const INK = { height: 26, gap: 4 } as const;

/** The row height for a signer with texts of usual length. */
const ROW = 4 * LINE + 14;

const STATUS_WORDS: Readonly<Record<SignerRecord['status'], string>> = {
  PENDING: 'Waiting',
  SENT: 'Asked to sign',
  VIEWED: 'Viewed',
  SIGNED: 'Signed',
  DECLINED: 'Declined',
};

/** Draws a table with one row per signer: who signed, when, and the evidence. The header is repeated on each page. */
export function drawSignerTable(
  flow: Flow,
  signers: readonly SignerRecord[],
  fields: readonly FieldRecord[],
): void {
  flow.heading(`Signers (${signers.length})`, 18 + ROW);
  flow.heads(HEADS, 6);
  for (const signer of signers) drawSigner(flow, signer, fields);
}

const SMALL: TextStyle = { ...STYLES.small, leading: LINE };
const DARK: TextStyle = { ...SMALL, color: COLORS.ink };

interface WhoLine {
  text: string;
  style: TextStyle;
}

function drawSigner(flow: Flow, signer: SignerRecord, fields: readonly FieldRecord[]): void {
  const who = whoLines(flow.type, signer);
  const drawn = drawnSignature(fields, signer);
  const evidence = 4 * LINE + (drawn === undefined ? 0 : INK.gap + INK.height);
  const height = Math.max(evidence, who.length * LINE) + 4;
  if (flow.ensureSpace(height + 8)) flow.heads(HEADS, 6);
  const { sheet, top } = flow;
  const at = (line: number): number => baseline(top + line * LINE, SMALL);

  const number = { ...SMALL, use: 'strong', color: COLORS.accent } as const;
  drawLine(flow, `${signer.order}`, number, { x: FLOW.left, y: at(0) });
  for (const [line, { text, style }] of who.entries()) {
    drawLine(flow, text, style, { x: COLUMNS.who.x, y: at(line) });
  }
  for (const [line, [label, time]] of timesOf(signer).entries()) {
    drawLine(flow, label, SMALL, { x: COLUMNS.when.x, y: at(line) });
    drawLine(flow, toSeconds(time) ?? '–', DARK, { x: COLUMNS.when.x + LABEL, y: at(line) });
  }
  const { x, width } = COLUMNS.how;
  const device = signer.userAgent === null ? '–' : oneLine(deviceOf(signer.userAgent));
  const value = { x: x + 34, width: width - 34, smallest: 4.5 };
  drawLine(flow, 'IP', SMALL, { x, y: at(0) });
  drawFitted(flow, oneLine(signer.ip ?? '–'), DARK, { ...value, y: at(0) });
  drawLine(flow, 'Device', SMALL, { x, y: at(1) });
  drawFitted(flow, device, DARK, { ...value, y: at(1) });
  drawLine(flow, 'Signature ID', SMALL, { x, y: at(2) });
  drawFitted(flow, oneLine(signer.signatureId), STYLES.mono, { x, y: at(3), width, smallest: 4.5 });
  if (drawn !== undefined)
    drawInk(sheet, drawn, { x, y: top + 4 * LINE + INK.gap, width, height: INK.height });
  flow.top += height;
  flow.rule(6);
}

/** Returns the name, email address, and role on up to three lines each, then the status. */
function whoLines(type: Typesetter, signer: SignerRecord): WhoLine[] {
  const color = signer.status === 'DECLINED' ? COLORS.warning : COLORS.accent;
  const status = { ...SMALL, use: 'strong', color } as const;
  return [
    ...fewLines(type, signer.name, { ...DARK, use: 'strong', size: 9.2 }),
    ...fewLines(type, signer.email, DARK),
    ...fewLines(type, signer.role, SMALL),
    { text: STATUS_WORDS[signer.status], style: status },
    ...(signer.declineReason === null ? [] : fewLines(type, signer.declineReason, SMALL)),
  ];
}

function fewLines(type: Typesetter, text: string, style: TextStyle): WhoLine[] {
  const options = {
    width: COLUMNS.who.width,
    height: 3 * LINE,
    largest: style.size,
    smallest: style.size * 0.7,
    leading: LINE / style.size,
  };
  const { lines, size } = type.fit([oneLine(text)], style.use, options);
  return lines.map((line) => ({ text: oneLine(line), style: { ...style, size } }));
}

function timesOf(signer: SignerRecord): [string, string | null][] {
  return [
    ['Sent', signer.notifiedAt],
    ['Viewed', signer.viewedAt],
    ['Consent', signer.consentAt],
    signer.declinedAt === null ? ['Signed', signer.signedAt] : ['Declined', signer.declinedAt],
  ];
}

/** The order matters, because browsers also name the ones they derive from. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:A|iOS)?\/(\d+)/, 'Edge'],
  [/\bOPR\/(\d+)/, 'Opera'],
  [/\b(?:Firefox|FxiOS)\/(\d+)/, 'Firefox'],
  [/\b(?:Chrome|CriOS)\/(\d+)/, 'Chrome'],
  [/\bVersion\/(\d+)[\d.]* .*Safari\//, 'Safari'],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
];

/** Returns a short description of a user agent, such as `Firefox 128 on Linux`, or its first characters if the browser is unknown. */
function deviceOf(userAgent: string): string {
  for (const [pattern, name] of BROWSERS) {
    const version = pattern.exec(userAgent)?.[1];
    if (version === undefined) continue;
    const system = SYSTEMS.find(([mark]) => mark.test(userAgent))?.[1];
    return `${name} ${version}${system === undefined ? '' : ` on ${system}`}`;
  }
  return userAgent.length > 60 ? `${userAgent.slice(0, 60)}…` : userAgent;
}
