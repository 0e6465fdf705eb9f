import { beforeAll, describe, expect, it } from 'vitest';
import { parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home, jsonLines } from '../support/cli.ts';
import { type FakeService, fakeService } from '../support/fake-service.ts';
import { openCommand } from '../support/pty.ts';
import { json } from '../support/server.ts';

/** What strangers can put into a title, a name, or a reason to attack an operator's terminal. */
const CORPUS = [
  '\u001b[35;5mforged\u001b[0m',
  '\u001b]0;owned\u0007',
  '\u001b]8;;https://evil.example\u001b\\click\u001b]8;;\u001b\\',
  '\u001b]52;c;ZXZpbA==\u0007',
  '\u009b2J\u009d0;owned\u009c',
  '\u001bc\u001b[2J\u001b[H\u001b[1A\u001b[?1049h',
  'line\r\nforged line\r\u0008\u0008\u007f',
  'user\u202egpj.exe\u2066x\u2069\u200b\u200f\u061c',
  '\u0000\u0001\u0007\u000b\u000c\u000e\u001a',
  '\u2028\u2029\u{e0041}\u{e007f}\ufeff',
  '李小龍 👩‍💻 e\u0301\u0301\u0301 ﷽ ضض\u001bP+q\u001b\\',
];
const hostile = (prefix: string, index: number) => `${prefix}${CORPUS[index % CORPUS.length] ?? ''}${index}`;

const home = new Home();
let service: FakeService;

const envelope = (index: number) => ({
  id: `env_${index}`,
  status: hostile('', index),
  subject: hostile('s', index),
  message: hostile('m', index + 1),
  templateId: hostile('t', index + 2),
  templateName: hostile('n', index + 3),
  metadata: { [hostile('k', index)]: hostile('v', index + 4) },
  storage: { documentKey: hostile('d', index), signedKey: hostile('sk', index), certificateKey: null },
  signers: [0, 1].map((one) => ({
    id: hostile('i', index + one),
    email: hostile('e', index + one),
    name: hostile('N', index + 2 + one),
    role: hostile('r', index + 3 + one),
    status: hostile('', index + 4 + one),
    declineReason: hostile('why', index + 5),
  })),
  createdAt: index % 2 === 0 ? '2026-01-02T03:04:05Z' : hostile('', index),
});
const template = (index: number) => ({
  id: `tmpl_${index}`,
  name: hostile('n', index),
  description: hostile('d', index + 1),
  fields: [
    { fieldId: hostile('f', index), type: hostile('t', index), label: hostile('l', index + 1), page: 1 },
  ],
});

beforeAll(async () => {
  service = await fakeService((request, response) => {
    const [, , , , kind = '', id, action] = request.path.split('/');
    const of = kind === 'templates' ? template : envelope;
    if (action !== undefined || id === 'env_bad') {
      const error = {
        code: hostile('C', 0),
        message: hostile('m', 1),
        details: { [hostile('f', 2)]: [hostile('d', 3)] },
      };
      return json(response, 400, { error });
    }
    if (id !== undefined) return json(response, 200, { data: of(Number(id.split('_')[1])) });
    const data = CORPUS.map((_, index) => of(index));
    json(response, 200, {
      data,
      meta: { pagination: { page: 1, pageSize: 100, total: data.length, totalPages: 1 } },
    });
  });
});

const RUNS = [
  ['envelopes', 'list'],
  ['envelopes', 'get', 'env_0', 'env_1', 'env_2', 'env_3', 'env_4', 'env_5', 'env_6', 'env_7', 'env_8'],
  ['envelopes', 'get', 'env_bad', '--debug'],
  ['envelopes', 'send', 'env_1'],
  ['envelopes', 'list', '--fields', 'id,subject,metadata,signers.0.name'],
  ['templates', 'list'],
  ['templates', 'get', 'tmpl_3'],
];

/** Every output format, with the same hostile rows. */
const FORMS = [
  ...['--csv', '--json', '--quiet', '--fields=subject,metadata,signers.0.name'].map((form) => [
    'envelopes',
    'list',
    form,
  ]),
  ...['--json', '--quiet'].map((form) => ['templates', 'list', form]),
  ['envelopes', 'list', '--csv', '--fields=subject,metadata'],
  ['envelopes', 'list', '--json', '--fields=subject,metadata'],
  ['envelopes', 'get', 'env_3', '--json'],
  ['envelopes', 'remind', 'env_1', '--dry-run'],
  ['find', 'env_2'],
  ['api', '/esign/envelopes'],
];

/** What our own output may contain in addition to text: color, weight, and line breaks. */
const OWN =
  /\u001b\[(?:0|1|2|22|3[0-9]|39|4|24|9[0-7])?(?:;\d+)*m|\u001b\[\?25[hl]|\u001b\[\d*[GK]|\r?\n|\r/g;
const ACTING =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/u;

describe('untrusted text', () => {
  for (const columns of [40, 60, 80, 120, 200])
    it(`never affects a terminal, ${columns} columns wide`, {
      tags: columns === 60 ? [] : ['full'],
    }, async () => {
      for (const words of RUNS) {
        const screen = openCommand(home, words, { env: service.env, columns });
        await screen.ended;
        const raw = screen.raw();
        expect(raw.length).toBeGreaterThan(20);
        expect(raw).not.toContain('\u001b[35;5m');
        expect(raw.replaceAll(OWN, '')).not.toMatch(ACTING);
      }
    });

  it('never affects a terminal in any output format', async () => {
    for (const words of FORMS) {
      const screen = openCommand(home, words, { env: service.env });
      await screen.ended;
      const raw = screen.raw();
      expect(raw.length, words.join(' ')).toBeGreaterThan(5);
      expect(raw.replaceAll(OWN, '').replaceAll('\t', ''), words.join(' ')).not.toMatch(ACTING);
    }
  });

  it('never affects the reader of a pipe, and stays exact in JSON', async () => {
    for (const words of [...RUNS, ...FORMS]) {
      const { stdout, stderr } = await home.run(words, { env: service.env });
      expect((stdout + stderr).replaceAll(/[\t\n]/g, '')).not.toMatch(ACTING);
    }
    const debug = { ...service.env, DEBUG: '*' };
    const traced = await home.run(argv`envelopes get env_bad`, { env: debug });
    expect(traced.stderr).toMatch(/\n\s+at /);
    expect(traced.stderr.replaceAll('\n', '')).not.toMatch(ACTING);
    const line = await home.run(argv`envelopes get env_bad --json`, { env: debug });
    expect(jsonLines(line.stderr)).toHaveLength(1);
    const list = await home.run(argv`envelopes list --json`, { env: service.env });
    expect(list.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(parseJson(list.stdout)).toEqual(CORPUS.map((_, index) => envelope(index)));
    const bad = await home.run(argv`envelopes get env_bad --json`, { env: service.env });
    expect(jsonLines(bad.stderr)).toMatchObject([
      { error: { code: hostile('C', 0), message: hostile('m', 1) } },
    ]);
  });
});

/** Values of the service that are properties of every object: our tables treat them like any other. */
describe.each(['constructor', '__proto__'])('the value %s', (word) => {
  it('is shown unchanged as a status, and is an unknown code as an error', async () => {
    const signer = { id: 'signer_1', email: 'ada@example.com', name: word, role: word, status: word };
    const named = await fakeService(({ path }, response) =>
      path.endsWith('env_bad')
        ? json(response, 400, { error: { code: word, message: 'no' } })
        : json(response, 200, { data: { id: 'env_1', status: word, signers: [signer] } }),
    );
    const env = { ...named.env, FORCE_COLOR: '1' };
    const shown = await home.run(argv`envelopes get env_1`, { env });
    expect([shown.code, shown.stdout.includes(`${word} <ada@example.com>`)]).toEqual([0, true]);
    expect(shown.stdout).not.toMatch(/native code|\[object/);
    const failed = await home.run(argv`envelopes get env_bad --json`, { env });
    expect([failed.code, jsonLines(failed.stderr)]).toMatchObject([1, [{ error: { code: word } }]]);
    expect((await home.run([word])).code).toBe(2);
  });
});
