import stringWidth from 'string-width';

/*
 * Text that came from the service or a webhook was written by strangers. On a terminal, a control character,
 * an escape sequence or a direction override could hide or forge what an operator reads; so each is made visible.
 * Classes of Unicode take their time to be read: each pattern is made when it is first used.
 */
const unsafe = () =>
  // Controls, format characters (direction, zero width, tags), line separators, lone surrogates, invisible letters;
  // the two variation selectors of emoji are ordinary writing.
  /(?![\ufe0e\ufe0f])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

const NAMES: Readonly<Record<string, string>> = { '\n': '⏎', '\r': '␍', '\t': '␉', '\u001b': '␛' };
/** Zero-width joiner between emoji and in scripts that need it is ordinary writing. */
const JOINER = '\u200d';
const NON_JOINER = '\u200c';
const joining = () =>
  /\p{Extended_Pictographic}|\p{Script=Arabic}|\p{Script=Devanagari}|\p{Script=Bengali}|\p{Script=Sinhala}|\p{Script=Malayalam}|\ufe0f|\p{Emoji_Modifier}/u;

/** One line of text in which everything that could act on a terminal is shown as a visible sign. */
export function safeLine(text: string): string {
  return text.replace(unsafe(), (character, index: number) => {
    if ((character === JOINER || character === NON_JOINER) && joins(text, index)) return character;
    return NAMES[character] ?? visible(character);
  });
}

function joins(text: string, index: number): boolean {
  const before = [...text.slice(Math.max(0, index - 2), index)].at(-1) ?? '';
  return joining().test(before);
}

function visible(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return '␡';
  return `<${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

/** Several lines: as safeLine, with line breaks kept. */
export function safeBlock(text: string): string {
  return text
    .split(/\r\n|\n/)
    .map(safeLine)
    .join('\n');
}

/** JSON text in which everything that could act on a terminal is escaped: the same JSON, line breaks between tokens kept. */
export function safeJson(text: string): string {
  return text.replace(unsafe(), (character, index: number) => {
    if (character === '\n') return character;
    if ((character === JOINER || character === NON_JOINER) && joins(text, index)) return character;
    return character.split('').map(unicodeEscape).join('');
  });
}

function unicodeEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Marks stand on the letter before them. Those that make an emoji of a sign stay. */
const marks = () => /(?![\ufe0f\u20e3])[\p{Mn}\p{Me}]/gu;

/** Columns the text takes on a terminal. */
export function widthOf(text: string): number {
  return stringWidth(text.replace(marks(), ''));
}

/** The text with blanks up to `width` columns. */
export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** Rows of cells as lines, each column as wide as its widest cell; a column without any text is left out. */
export function inColumns(rows: readonly (readonly string[])[]): string[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, at) =>
    Math.max(...rows.map((row) => widthOf(row[at] ?? ''))),
  );
  return rows.map((row) => {
    const cells = widths.flatMap((width, at) => (width > 0 ? [padded(row[at] ?? '', width)] : []));
    return cells.join('  ').trimEnd();
  });
}

/** Made when first needed: it costs more than all else at start-up. */
let segmenter: Intl.Segmenter | undefined;

/** What a reader sees as one character each. */
function segmentsOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(text);
}

/** The text cut to at most `width` columns, with an ellipsis where something is missing. */
export function truncate(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let result = '';
  let used = 0;
  for (const { segment } of segmentsOf(text)) {
    const size = widthOf(segment);
    if (used + size > width - 1) break;
    result += segment;
    used += size;
  }
  return `${result}…`;
}

/** Words as they are kept together in a sentence: a command in backquotes is copied whole. */
const PIECES = /`[^`\n]*`\S*|\S+/g;

/** Sentences in lines of at most `width` columns; what is longer by itself stays whole. Line breaks are kept. */
export function paragraph(text: string, width: number): string {
  return text
    .split('\n')
    .map((line) => (widthOf(line) <= width ? line : refilled(line, width)))
    .join('\n');
}

function refilled(line: string, width: number): string {
  const indent = /^ */.exec(line)?.[0] ?? '';
  const lines: string[] = [];
  for (const piece of line.match(PIECES) ?? []) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(`${last} ${piece}`) <= width)
      lines[lines.length - 1] = `${last} ${piece}`;
    else lines.push(`${indent}${piece}`);
  }
  return lines.join('\n');
}

/** The text in lines of at most `width` columns, broken between words where that goes. */
export function wrapped(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(/(?<= )/)) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && widthOf(line) + widthOf(word.trimEnd()) > width) lines.push('');
    for (const { segment } of widthOf(word) > width ? segmentsOf(word) : [{ segment: word }]) {
      const last = lines.at(-1) ?? '';
      if (widthOf(last) + widthOf(segment.trimEnd()) > width) lines.push(segment);
      else lines[lines.length - 1] = `${last}${segment}`;
    }
  }
  return lines.map((line) => line.trimEnd());
}
