/** A shell word, possibly with quoted parts. */
const WORD = /(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"])+/g;
const INDENT = '    ';
const GOES_ON = ' \\';

/** Breaks an example into lines that fit the width. Each line except the last ends in a backslash. */
export function exampleLines(command: string, width: number): string {
  if (command.length <= width) return command;
  const lines: string[] = [];
  let line = '';
  for (const piece of piecesOf(command)) {
    const longer = line === '' ? piece : `${line} ${piece}`;
    if (line.trim() === '' || longer.length + GOES_ON.length <= width) line = longer;
    else {
      lines.push(line);
      line = `${INDENT}${piece}`;
    }
  }
  return [...lines, line].join(`${GOES_ON}\n`);
}

/** Splits a command into words, keeping each flag and its value together. */
function piecesOf(command: string): string[] {
  const pieces: string[] = [];
  for (const word of command.match(WORD) ?? []) {
    const last = pieces.at(-1);
    const isValue = last !== undefined && /^--?\w[\w-]*$/.test(last) && !/^[-|]/.test(word);
    if (isValue) pieces[pieces.length - 1] = `${last} ${word}`;
    else pieces.push(word);
  }
  return pieces;
}
