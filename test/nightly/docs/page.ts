/** One command of a snippet, and its output on the page. */
export interface Shown {
  command: string;
  output: string[];
}

/** A fenced block of code in a page, with the notes on running it from the comments before it. */
export interface Snippet {
  page: string;
  line: number;
  language: string;
  text: string;
  /** By note: `not run`, `keeps running`, `exit`. None of them runs anything. */
  notes: ReadonlyMap<string, string>;
}

const NOTES = ['not run', 'keeps running', 'exit'];
const NOTE = /^<!-- ([a-z ]+?)(?:: ([\s\S]*?))? -->$/;

/** Returns every fenced block of a page. A comment right before one is a note; an unknown note is an error. */
export function snippetsOf(page: string, markdown: string): Snippet[] {
  const found: Snippet[] = [];
  const lines = markdown.split('\n');
  let notes = new Map<string, string>();
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const fence = /^( *)```([\w-]*)$/.exec(line);
    if (fence) {
      const [, indent = '', language = ''] = fence;
      const end = lines.indexOf(`${indent}\`\`\``, at + 1);
      if (end < 0) throw new Error(`${page}:${at + 1}: the block has no end`);
      const text = lines.slice(at + 1, end).map((one) => one.slice(indent.length));
      found.push({ page, line: at + 1, language, text: text.join('\n'), notes });
      notes = new Map();
      at = end;
    } else if (line.startsWith('<!-- ')) {
      const end = lines.findIndex((one, index) => index >= at && one.endsWith('-->'));
      const [word, value] = noteOf(lines.slice(at, end + 1).join('\n'), `${page}:${at + 1}`);
      notes.set(word, value);
      at = end;
    } else if (line !== '' && notes.size > 0)
      throw new Error(`${page}:${at + 1}: the note before this line belongs to no block`);
  }
  return found;
}

function noteOf(comment: string, where: string): [string, string] {
  const [, word = '', value = ''] = NOTE.exec(comment) ?? [];
  if (!NOTES.includes(word)) throw new Error(`${where}: not one of ${NOTES.join(', ')}: ${comment}`);
  return [word, value];
}

/**
 * Returns the commands of a console block: each starts with `$ `, followed by its output. Lines before the first one come
 * from a command that was started earlier.
 */
export function shownOf({ text }: Snippet): Shown[] {
  const shown: Shown[] = [];
  let continued = false;
  for (const line of text.split('\n')) {
    const last = shown.at(-1);
    if (line.startsWith('$ ')) shown.push({ command: line.slice(2), output: [] });
    else if (last === undefined) shown.push({ command: '', output: [line] });
    else if (continued) last.command += `\n${line}`;
    else last.output.push(line);
    continued = line.endsWith('\\') && (continued || line.startsWith('$ '));
  }
  return shown.map(({ command, output }) => ({ command, output: trimmed(output) }));
}

function trimmed(lines: string[]): string[] {
  return lines
    .join('\n')
    .replace(/^\n+|\s+$/g, '')
    .split('\n')
    .filter((line, _, all) => all.length > 1 || line !== '');
}

/** Returns each esign call in a block of shell, cron, or YAML: its words up to the end of the command. */
export function callsOf({ language, text }: Snippet): string[] {
  if (!['sh', 'bash', 'console', 'cron', 'yaml', 'powershell'].includes(language)) return [];
  const joined = text.replaceAll(/\s*[\\`]\n\s*/g, ' ');
  const lines = joined.split('\n').filter((line) => (language === 'console' ? line.startsWith('$ ') : true));
  return lines
    .filter((line) => !line.startsWith('#'))
    .map((line) => line.replace(/\s+# .*$/, ''))
    .flatMap((line) =>
      [...line.matchAll(/(?:^|[|($:&] ?|\s)esign ((?:'[^']*'|"[^"]*"|[^|)&>;'"])+)/g)].map(([, call = '']) =>
        call.trim(),
      ),
    );
}
