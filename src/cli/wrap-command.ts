import { LINE_CONTINUATION } from '../kernel/text/shell-words.ts';

/** A shell word, possibly with quoted parts. */
const WORD = /(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"])+/g;
const INDENT = '    ';
const CONTINUATION = ` ${LINE_CONTINUATION}`;

/** Breaks a command into lines that fit the width: after a pipe if it has one, which needs no continuation character. */
export function wrapCommand(command: string, width: number): string {
  if (command.length <= width) return command;
  const pieces = piecesOf(command);
  const pipe = pieces.findLastIndex((piece) => piece.endsWith(' |')) + 1;
  const start = wrappedPieces(pieces.slice(0, pipe), width);
  const rest = wrappedPieces(pieces.slice(pipe), pipe > 0 ? width - INDENT.length : width);
  return pipe > 0 ? `${start}\n${INDENT}${rest}` : rest;
}

function wrappedPieces(pieces: readonly string[], width: number): string {
  const lines: string[] = [];
  let line = '';
  for (const piece of pieces) {
    const longer = line === '' ? piece : `${line} ${piece}`;
    if (line.trim() === '' || longer.length + CONTINUATION.length <= width) line = longer;
    else {
      lines.push(line);
      line = `${INDENT}${piece}`;
    }
  }
  return [...lines, line].join(`${CONTINUATION}\n`);
}

/** Splits a command into words, keeping together each flag and its value, and a pipe and the word before it. */
function piecesOf(command: string): string[] {
  const pieces: string[] = [];
  for (const word of command.match(WORD) ?? []) {
    const last = pieces.at(-1);
    const isValue = last !== undefined && /^--?\w[\w-]*$/.test(last) && !/^[-|]/.test(word);
    if (isValue || (last !== undefined && word === '|')) pieces[pieces.length - 1] = `${last} ${word}`;
    else pieces.push(word);
  }
  return pieces;
}
