import { afterAll, beforeAll, expect, it } from 'vitest';
import { RUN_KEY } from '../../src/kernel/vocabulary.ts';
import { Home } from '../support/cli.ts';
import { answerPage, type FakeService, fakeService, KEY } from '../support/fake-service.ts';
import { json } from '../support/server.ts';

/* A service that returns the request's key in its resources. */
const home = new Home();
let service: FakeService;
const RUN = 'run-20260105-100000000-00000000';
const at = '2026-01-05T10:00:00.000Z';
const signer = {
  id: 'signer_1',
  name: KEY,
  email: 'a@example.com',
  order: 1,
  status: 'SENT',
  signedAt: null,
};
const envelope = {
  id: 'env_1',
  status: 'SENT',
  subject: `About ${KEY}`,
  templateId: 'tmpl_1',
  signers: [signer],
  ...{
    metadata: { key: KEY, [KEY]: 'x', [RUN_KEY]: RUN },
    [KEY]: 1,
    createdAt: at,
    updatedAt: at,
    sentAt: at,
  },
};
const template = { id: 'tmpl_1', name: KEY, isActive: true, createdAt: at, updatedAt: at };

beforeAll(async () => {
  service = await fakeService((request, response) => {
    const item = request.path.includes('templates') ? template : envelope;
    if (/env_1|tmpl_1/.test(request.path)) json(response, 200, { data: item });
    else answerPage(request, response, 1, () => item);
  });
});
afterAll(async () => {
  await service.server.close();
  await home.close();
});

it.each([
  'envelopes get env_1',
  'envelopes get env_1 env_1',
  'envelopes list',
  'templates list',
  'templates get tmpl_1',
  'find about',
  'api /esign/envelopes/env_1',
  'api /esign/envelopes --paginate',
  'late --after 1d',
  'report --by meta.key --since 2026-01-01',
  `bulk status ${RUN}`,
  'envelopes watch env_1 --until SENT',
])('hides its own key: %s', async (words) => {
  for (const more of [[], ['--json']]) {
    const { stdout, stderr } = await home.run([...words.split(' '), ...more], { env: service.env });
    expect(`${stdout}${stderr}`).not.toContain(KEY);
    if (more.length > 0) expect(stdout).toContain('[redacted]');
  }
});

it.each([
  'report --by meta.key --since 2026-01-01 --html -',
  'report --by meta.key --markdown',
  'compat --json',
])('hides its own key in %s', async (words) => {
  const { stdout } = await home.run(words.split(' '), { env: service.env });
  expect(stdout).not.toBe('');
  expect(stdout).not.toContain(KEY);
});
