import type { NumberKind } from './number-formats.ts';

const NUMBER = /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d{1,3}))?$/i;
/** Number of digits that spreadsheets keep. Further digits are artifacts of the binary form. */
const MAX_DIGITS = 15;

/** Returns the text of a number cell: a date or time as ISO 8601, any other number as a person writes it, without an exponent. */
export function numberText(value: string, kind: NumberKind, is1904: boolean): string {
  if (kind === 'number') return plainNumber(value);
  if (typeof kind === 'object') return padded(plainNumber(value), kind.digits);
  return timeText(Number(value), kind, is1904) ?? plainNumber(value);
}

/** Returns a number without an exponent, rounded as spreadsheets round it for display. */
function plainNumber(value: string): string {
  const number = expanded(value.trim());
  if (number === undefined) return value;
  const [whole = '', fraction = ''] = number.replace('-', '').split('.');
  const digits = `${whole}${fraction}`.replace(/^0+/, '').length;
  if (fraction === '' || digits <= MAX_DIGITS) return number;
  return expanded(Number(number).toPrecision(MAX_DIGITS)) ?? number;
}

/** Moves the decimal point within the written digits, so that no digit is lost. */
function expanded(value: string): string | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(value) ?? [];
  if (`${whole}${fraction}` === '') return undefined;
  const digits = `${whole}${fraction}`;
  const point = whole.length + Number(exponent);
  const all = point < 0 ? `${'0'.repeat(-point)}${digits}` : digits.padEnd(point, '0');
  const at = Math.max(0, point);
  const integer = all.slice(0, at).replace(/^0+(?=\d)/, '') || '0';
  const rest = all.slice(at).replace(/0+$/, '');
  const text = rest === '' ? integer : `${integer}.${rest}`;
  return sign === '-' && text !== '0' ? `-${text}` : text;
}

function padded(number: string, digits: number): string {
  return /^\d+$/.test(number) ? number.padStart(digits, '0') : number;
}

const DAY_S = 86_400;
/** 9999-12-31, the last day that spreadsheets support. */
const LAST_DAY = 2_958_465;

/** Returns a date or time in ISO 8601, or undefined if the number is not one. */
function timeText(
  serial: number,
  kind: 'date' | 'time' | 'datetime' | 'elapsed',
  is1904: boolean,
): string | undefined {
  if (!(serial >= 0 && serial < LAST_DAY + 1)) return undefined;
  const seconds = Math.round(serial * DAY_S);
  if (kind === 'elapsed') return clockText(seconds);
  if (kind === 'time') return clockText(seconds % DAY_S);
  if (kind === 'date') return dateText(Math.floor(serial), is1904);
  return `${dateText(Math.floor(seconds / DAY_S), is1904)}T${clockText(seconds % DAY_S)}`;
}

function dateText(day: number, is1904: boolean): string {
  if (is1904) return isoDate(Date.UTC(1904, 0, 1 + day));
  // Spreadsheets have a 29 February 1900, a bug inherited from Lotus 1-2-3.
  if (day === 60) return '1900-02-29';
  return isoDate(Date.UTC(1899, 11, (day < 60 ? 31 : 30) + day));
}

function isoDate(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function clockText(seconds: number): string {
  return [seconds / 3_600, (seconds / 60) % 60, seconds % 60]
    .map((part) => String(Math.floor(part)).padStart(2, '0'))
    .join(':');
}
