import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isList, isRecord, parseJson } from '../../src/kernel/json.ts';

/* Arguments for a run of each command of the manifest, so that tests that walk all commands cover a new one. */

export interface Described {
  flags: Record<string, { required?: boolean; type?: string; hidden?: boolean }>;
  args: Record<string, { options?: unknown }>;
}

/** Every command of the manifest, so a new command is covered from its first day. */
export async function commands(): Promise<[string, Described][]> {
  const manifest = parseJson(await readFile(join(import.meta.dirname, '../../oclif.manifest.json'), 'utf8'));
  const all = isRecord(manifest) && isRecord(manifest.commands) ? manifest.commands : {};
  return Object.entries(all).map(([id, command]) => {
    const partsOf = (name: string) => {
      const parts = isRecord(command) && isRecord(command[name]) ? command[name] : {};
      return Object.fromEntries(
        Object.entries(parts).map(([part, facts]) => [part, isRecord(facts) ? facts : {}]),
      );
    };
    return [id, { flags: partsOf('flags'), args: partsOf('args') }];
  });
}

/** These flags let the commands run as far as possible. */
const MORE: Readonly<Record<string, string>> = {
  'profiles:add': '--base-url http://127.0.0.1:9/v1',
  'profiles:edit': '--base-url http://127.0.0.1:9/v1',
  listen: '--port 0',
  'sandbox:start': '--port 0 --ephemeral',
  'envelopes:create': '--template tmpl_1 --signer a@b.c --webhook-url http://127.0.0.1:9/hook',
  'bulk:create': '--template tmpl_1',
  'envelopes:watch': '--until COMPLETED',
  'envelopes:remind': '--min-gap 1d',
  'sandbox:decline': '--reason no',
  demo: '--dir demo',
};
/** These commands run until they are stopped. */
export const ENDLESS = ['listen', 'sandbox:start'];
const VALUES: Readonly<Record<string, string>> = {
  to: 'http://127.0.0.1:9/hook',
  signature: '00',
  method: 'GET',
  path: '/envelopes',
  event: 'envelope.completed',
  time: '1d',
  file: join('given', 'rows.csv'),
};

/** Arguments for a run as far as possible, with each secret file that the command accepts. */
export function wordsOf(id: string, { flags, args }: Described): string[] {
  const given = Object.entries(args).map(([name, { options }]) =>
    isList(options) ? String(options[0]) : (VALUES[name] ?? 'env_1'),
  );
  const more = MORE[id]?.split(' ') ?? [];
  const needed = Object.entries(flags).flatMap(([name, { required }]) => {
    if (more.includes(`--${name}`)) return [];
    if (/secret.*-file$/.test(name)) return [`--${name}`, join('given', 'secret')];
    return required ? [`--${name}`, VALUES[name] ?? 'x'] : [];
  });
  const yes = 'yes' in flags ? ['--yes'] : [];
  return [...id.split(':'), ...given, ...more, ...needed, ...yes, '--debug', '--timeout', '2s', '--no-input'];
}
