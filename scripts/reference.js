import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

// Writes docs/reference from the manifest. With --check, only lists the pages that are out of date.
const root = join(import.meta.dirname, '..');
const folder = join(root, 'docs/reference');
const { commands } = JSON.parse(await readFile(join(root, 'oclif.manifest.json'), 'utf8'));
const { oclif } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));

/** Global flags are described once, on the first page. */
const isGlobal = (flag) => flag.helpGroup === 'GLOBAL';
const words = (id) => id.replaceAll(':', ' ');
const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const anchor = (id) => `esign-${id.replaceAll(':', '-')}`;

function flagName({ char, name, type, helpValue, allowNo, options }) {
  const long = allowNo ? `--[no-]${name}` : `--${name}`;
  const value = type === 'option' ? ` ${helpValue ?? (options ? options.join('|') : 'VALUE')}` : '';
  return cell(`\`${char ? `-${char}, ` : ''}${long}${value}\``);
}

function flagMeaning({
  description,
  required,
  multiple,
  default: preset,
  options,
  helpValue,
  exclusive,
  dependsOn,
}) {
  const list = (names) => names.map((name) => `\`--${name}\``).join(', ');
  const facts = [
    required ? 'required' : '',
    multiple && !description.includes('repeat') ? 'repeatable' : '',
    options && helpValue ? `one of ${options.join(', ')}` : '',
    preset === undefined || preset === false ? '' : `default ${preset}`,
    dependsOn?.length ? `only with ${list(dependsOn)}` : '',
    exclusive?.length ? `not with ${list(exclusive)}` : '',
  ].filter((fact) => fact !== '');
  return cell(facts.length === 0 ? description : `${description} (${facts.join('; ')})`);
}

function table(head, rows) {
  if (rows.length === 0) return '';
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return `${lines.join('\n')}\n\n`;
}

const flagTable = (flags) =>
  table(
    ['flag', 'meaning'],
    flags.map((flag) => [flagName(flag), flagMeaning(flag)]),
  );

function usage(id, { args, flags, strict, usage: own }) {
  if (own) return `esign ${own}`;
  const many = strict === false ? '...' : '';
  const positional = Object.values(args).map(({ name, required }) =>
    required ? name.toUpperCase() : `[${name.toUpperCase()}${many}]`,
  );
  const needed = Object.values(flags).flatMap(({ name, required, helpValue }) =>
    required ? [`--${name} ${helpValue ?? 'VALUE'}`] : [],
  );
  return ['esign', words(id), ...positional, ...needed, '[FLAGS]'].join(' ');
}

function section(id) {
  const command = commands[id];
  const flags = Object.values(command.flags)
    .filter((flag) => !isGlobal(flag) && !flag.hidden)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const groups = [...new Set(flags.map(({ helpGroup }) => helpGroup ?? ''))].sort();
  const args = Object.values(command.args).map(({ name, description, options }) => [
    `\`${name.toUpperCase()}\``,
    cell(options ? `${description}: ${options.join(', ')}` : description),
  ]);
  const examples = command.examples.map((one) => one.replaceAll('<%= config.bin %>', 'esign')).join('\n');
  return [
    `## esign ${words(id)}\n\n${command.summary}\n\n`,
    command.description ? `${command.description}\n\n` : '',
    `\`\`\`text\n${usage(id, command)}\n\`\`\`\n\n`,
    table(['argument', 'meaning'], args),
    ...groups.map((group) => {
      const title = group === '' ? '' : `${group[0]}${group.slice(1).toLowerCase()}:\n\n`;
      return title + flagTable(flags.filter(({ helpGroup }) => (helpGroup ?? '') === group));
    }),
    `Examples:\n\n\`\`\`sh\n${examples}\n\`\`\`\n\n`,
    `With \`--json\`: [${id.replaceAll(':', '-')}.json](../../contract/output/${id.replaceAll(':', '-')}.json)\n`,
  ].join('');
}

const note = '<!-- Made by `npm run docs:reference` from the commands themselves: change it there. -->\n';

function topicPage(topic, ids) {
  const about = oclif.topics[topic]?.description.replace('\n', '\n\n');
  const title = `# ${topic}\n\n${note}\n${about ? `${about}\n\n` : ''}`;
  const list = ids.map((id) => `- [esign ${words(id)}](#${anchor(id)}): ${commands[id].summary}\n`).join('');
  const all = 'Every command also has [these flags](README.md#flags-of-every-command).\n\n';
  return `${title}${ids.length > 1 ? `${list}\n` : ''}${all}${ids.map(section).join('\n')}`;
}

function indexPage(topics) {
  const [first] = Object.values(commands);
  const rows = Object.entries(topics).flatMap(([topic, ids]) =>
    ids.map((id) => [`[esign ${words(id)}](${topic}.md#${anchor(id)})`, cell(commands[id].summary)]),
  );
  return [
    `# Commands\n\n${note}\n`,
    table(['command', 'what it does'], rows),
    '## Flags of every command\n\n',
    flagTable(Object.values(first.flags).filter(isGlobal)),
    'Exit codes: [scripting.md](../scripting.md#exit-codes). Errors: [troubleshooting.md](../troubleshooting.md).\n',
  ].join('');
}

const topics = {};
for (const id of Object.keys(commands).sort()) {
  const [topic] = id.split(':');
  topics[topic] = [...(topics[topic] ?? []), id];
}
const pages = { 'README.md': indexPage(topics) };
for (const [topic, ids] of Object.entries(topics)) pages[`${topic}.md`] = topicPage(topic, ids);

await mkdir(folder, { recursive: true });
const stale = [];
for (const file of await readdir(folder)) if (!(file in pages)) stale.push(file);
for (const [file, text] of Object.entries(pages)) {
  const now = await readFile(join(folder, file), 'utf8').catch(() => undefined);
  if (now !== text) stale.push(file);
}
if (process.argv.includes('--check')) {
  for (const file of stale)
    process.stderr.write(`docs/reference/${file} is not up to date: npm run docs:reference\n`);
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  for (const file of stale) await rm(join(folder, file), { force: true });
  for (const [file, text] of Object.entries(pages)) await writeFile(join(folder, file), text);
}
