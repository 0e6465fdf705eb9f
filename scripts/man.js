import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureBuilt } from './ensure.js';

// Creates dist/man from the manifest that the build writes: esign(1), and a page for each topic and command.
const root = join(import.meta.dirname, '..');
const folder = join(root, 'dist/man');
const ENVIRONMENT = [
  ['ESIGN_PROFILE', 'The profile to use.'],
  ['ESIGN_BASE_URL', "The API base URL (overrides the profile's)."],
  ['ESIGN_API_KEY', "The API key (overrides the profile's)."],
  ['ESIGN_TIMEOUT', 'The timeout of a request, such as 30s.'],
  ['ESIGN_WEBHOOK_SECRET', 'The secret for webhook signatures.'],
  ['ESIGN_CONFIG_DIR', 'The folder for profiles and settings.'],
  ['ESIGN_STATE_DIR', 'The folder for journals and sandbox data.'],
  ['ESIGN_NO_UPDATE_NOTICE', 'If set, esign does not check for newer versions.'],
  ['HTTPS_PROXY, HTTP_PROXY, NO_PROXY', 'Proxies for requests to the service and the bucket.'],
  ['NO_COLOR', 'If set, output has no colors.'],
];
const OPTIONS = [
  ['\\fB\\-h\\fR, \\fB\\-\\-help\\fR', 'Show help for a command.'],
  ['\\fB\\-V\\fR, \\fB\\-\\-version\\fR', 'Show the version.'],
];
const FILES = [
  ['~/.config/esign', 'Profiles and settings.'],
  ['~/.local/state/esign', 'Journals of bulk runs, webhooks, and reminders, and sandbox data.'],
  ['~/.cache/esign', 'A cache that makes commands start faster. It can be deleted at any time.'],
];
const GENERAL_USAGE = '\\fICOMMAND\\fR [\\fIOPTIONS\\fR]';
const ESCAPES = {
  '\\': '\\e',
  '-': '\\-',
  '"': '\\(dq',
  "'": '\\(aq',
  '^': '\\(ha',
  '~': '\\(ti',
  '`': '\\(ga',
  '…': '...',
  '–': '\\(en',
};

await ensureBuilt();
const manifest = await readFile(join(root, 'oclif.manifest.json'), 'utf8');
const { commands } = JSON.parse(manifest.replaceAll('<%= config.bin %>', 'esign'));
const { version, description, oclif } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
const made = process.env.SOURCE_DATE_EPOCH ? Number(process.env.SOURCE_DATE_EPOCH) * 1000 : Date.now();
const date = new Date(made).toISOString().slice(0, 10);
const shown = Object.values(commands)
  .filter(({ hidden }) => !hidden)
  .sort((one, other) => (one.id < other.id ? -1 : 1));
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
await write([], mainPage(await readFile(join(root, 'docs/scripting.md'), 'utf8')));
for (const [name, topic] of Object.entries(oclif.topics)) await write([name], topicPage(name, topic));
for (const command of shown) await write(command.id.split(':'), commandPage(command));

async function write(words, lines) {
  const name = pageName(words);
  const title = `.TH "${name.toUpperCase()}" "1" "${date}" "esign ${version}" "esign"`;
  await writeFile(join(folder, `${name}.1`), `${[title, '.nh', '.ad l', ...lines].join('\n')}\n`);
}

function mainPage(scripting) {
  // A test checks that this table is complete.
  const exitCodes = [...scripting.matchAll(/^\| ([\d, ]+) \| ([^|]+) \|/gm)];
  const alone = shown.filter(({ id }) => !id.includes(':')).map(({ id }) => id);
  return [
    ...intro([], description, GENERAL_USAGE),
    roff(description),
    '.PP',
    'Every command supports \\fB\\-\\-help\\fR. Data is written to standard output, everything else to standard error.',
    ...section('COMMANDS', shown, commandItem),
    ...section('OPTIONS', OPTIONS, ([flags, says]) => item(flags, says)),
    ...section('EXIT STATUS', exitCodes, ([, codes, says]) =>
      item(bold(codes), plain(says.replaceAll('`', ''))),
    ),
    ...section('ENVIRONMENT', ENVIRONMENT, ([name, says]) => item(bold(name), says)),
    ...section('FILES', FILES, ([path, says]) => item(`\\fI${path}\\fR`, says)),
    ...seeAlso([...Object.keys(oclif.topics), ...alone].map((name) => [name])),
  ];
}

function topicPage(name, topic) {
  const own = shown.filter(({ id }) => id.startsWith(`${name}:`));
  return [
    ...intro([name], topic.description.split('\n')[0], GENERAL_USAGE),
    ...paragraphs(topic.description.replace('\n', '\n\n')),
    ...section('COMMANDS', own, commandItem),
    ...seeAlso([[], ...own.map(({ id }) => id.split(':'))]),
  ];
}

function commandPage(command) {
  const args = Object.values(command.args);
  const flags = Object.values(command.flags).filter(({ hidden }) => !hidden);
  const own = flags.filter(({ helpGroup }) => helpGroup !== 'GLOBAL');
  const global = flags.filter(({ helpGroup }) => helpGroup === 'GLOBAL');
  const parts = command.id.split(':');
  return [
    ...intro(
      parts,
      command.summary,
      [...args.map((arg) => argument(arg, command.strict)), '[\\fIOPTIONS\\fR]'].join(' '),
    ),
    ...paragraphs([command.summary, command.description].filter(Boolean).join('\n\n')),
    ...section('ARGUMENTS', args, (arg) => item(italic(arg.name.toUpperCase()), choices(arg))),
    ...section('OPTIONS', own, (flag) => item(flagNames(flag), choices(flag))),
    ...section('GLOBAL OPTIONS', global, (flag) => item(flagNames(flag), choices(flag))),
    ...section('EXAMPLES', command.examples, example),
    ...seeAlso(parts.length > 1 ? [[], [parts[0]]] : [[]]),
  ];
}

/** Returns the start of a page, up to the heading of its description. */
function intro(parts, says, usage) {
  return [
    '.SH NAME',
    `${roff(pageName(parts))} \\- ${roff(says.replace(/\.$/, ''))}`,
    '.SH SYNOPSIS',
    `${bold(['esign', ...parts].join(' '))} ${usage}`,
    '.SH DESCRIPTION',
  ];
}

function commandItem({ id, summary }) {
  return item(bold(id.replaceAll(':', ' ')), plain(summary));
}

function argument({ name, required }, strict) {
  const shownAs = `${italic(name.toUpperCase())}${strict === false ? ' ...' : ''}`;
  return required ? shownAs : `[${shownAs}]`;
}

function flagNames({ name, char, type, helpValue, allowNo, options }) {
  const long = bold(`--${allowNo ? '[no-]' : ''}${name}`);
  const value = type === 'option' ? ` ${italic(helpValue ?? options?.join('|') ?? 'VALUE')}` : '';
  return `${char ? `${bold(`-${char}`)}, ` : ''}${long}${value}`;
}

function choices({ description: says = '', options, default: preset, multiple }) {
  const more = [
    options?.length && `One of: ${options.join(', ')}.`,
    (typeof preset === 'string' || typeof preset === 'number') && `Default: ${preset}.`,
    multiple && 'May be repeated.',
  ];
  return plain([/[.!?]$/.test(says) ? says : `${says}.`, ...more].filter(Boolean).join(' '));
}

function example(one, index) {
  return [...(index === 0 ? [] : ['.PP']), '.RS 4', '.nf', roff(one), '.fi', '.RE'];
}

function section(title, list, lines) {
  return list.length === 0 ? [] : [`.SH "${title}"`, ...list.flatMap(lines)];
}

function seeAlso(pages) {
  const names = pages.map((parts) => `\\fB${roff(pageName(parts))}\\fR(1)`);
  return ['.SH "SEE ALSO"', names.join(',\n')];
}

function item(head, says) {
  return ['.TP', head, says];
}

function paragraphs(text) {
  return text.split(/\n{2,}/).flatMap((part, index) => [...(index === 0 ? [] : ['.PP']), plain(part)]);
}

function pageName(parts) {
  return ['esign', ...parts].join('-');
}

function bold(text) {
  return `\\fB${roff(text)}\\fR`;
}

function italic(text) {
  return `\\fI${roff(text)}\\fR`;
}

/** Returns a paragraph, broken into lines. */
function plain(text) {
  const broken = text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/(.{1,72})(?: |$)/g, '$1\n')
    .trimEnd();
  return roff(broken);
}

/** Escapes text for roff: keeps hyphens copyable, and prevents lines from being read as requests. */
function roff(text) {
  return text
    .replaceAll(
      /[^\x00-\x7f]|[\\\-"'^~`]/gu,
      (one) => ESCAPES[one] ?? `\\[u${one.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}]`,
    )
    .replaceAll(/^\./gm, '\\&.');
}
