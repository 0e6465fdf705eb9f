import { beforeAll, describe, expect, it } from 'vitest';
import { listed } from '../../src/kernel/duration.ts';
import { Home, linesOf } from '../support/cli.ts';
import { answerPage, fakeService } from '../support/fake-service.ts';
import { ModelService } from '../support/model-service.ts';
import { openCommand } from '../support/pty.ts';
import { json } from '../support/server.ts';

/* An account with much to do: what a person sees of it on a terminal of 80×24. */
const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1);
const at = (days: number) => new Date(START + days * DAY).toISOString();
let service: ModelService;
let home: Home;

beforeAll(async () => {
  service = await ModelService.start();
  home = new Home(service.env);
  for (let n = 0; n < 60; n++) {
    const facts = { subject: `Employment contract for Kateřina Yılmaz, Prague (${n})`, expiresAt: at(n) };
    const sentAt = at(-9 - n / 10);
    const own = { id: `s_${n}`, name: 'Kateřina Yılmaz', email: `k${n}@acme.example`, status: 'SENT' };
    const boss = { id: `boss_${n}`, name: 'Hanna Richter', email: 'hanna@acme.example', status: 'SENT' };
    const signers = n % 2 === 0 ? [own] : [own, boss];
    const declined = { ...own, status: 'DECLINED', declinedAt: at(-1), declineReason: `Paragraph ${n}` };
    const metadata = { unit: `unit ${n % 13}` };
    const base = { ...facts, sentAt, createdAt: sentAt, signers, metadata };
    if (n % 7 === 1) service.make({ ...base, status: 'DECLINED', signers: [declined] });
    else service.make({ ...base, ...(n % 7 === 0 ? { status: 'DRAFT', sentAt: null } : {}) });
  }
});

async function screenOf(words: readonly string[], env: Record<string, string> = {}): Promise<string[]> {
  const screen = openCommand(home, words, { env });
  expect((await screen.ended).code).toBe(0);
  return screen.text().split('\n');
}

describe('on one screen', () => {
  it.each([
    [['late']],
    [['late', '--signer', 'kat']],
    [['report']],
    [['report', '--by', 'meta.unit']],
    [['report', '--by', 'meta.unit', '--template', 'Lease', '--status', 'open']],
    [['find', 'kat']],
    [['find', 'kat', 'prague']],
    [['find', 'kat', '--cached']],
    [['envelopes', 'list']],
  ])('shows %j without scrolling', async (words) => {
    // One row is left for the next prompt.
    expect((await screenOf(words)).length).toBeLessThanOrEqual(23);
  });

  it('find says how many it shows, and --all shows the rest', async () => {
    const ids = (lines: string[]) => lines.filter((line) => / env_\d+$/.test(line)).length;
    const some = await screenOf(['find', 'kat']);
    const all = ids(await screenOf(['find', 'kat', '--all']));
    expect(all).toBeGreaterThanOrEqual(60);
    expect(some.join('\n')).toContain(`Showing ${ids(some)} of ${all}.`);
  });
});

describe('templates get on a terminal', () => {
  it('shows the roles and the next command, and the fields only with --all', async () => {
    const fields = Array.from({ length: 60 }, (_, n) => {
      return { fieldId: `f${n}`, type: 'TEXT', label: `Field ${n}`, required: true, page: 1 + (n % 3) };
    });
    const template = { id: 'tmpl_long', name: 'Long', pageCount: 3, roles: ['Tenant'], fields };
    const { env } = await fakeService((_, response) => json(response, 200, { data: template }));
    const lines = await screenOf(['templates', 'get', 'tmpl_long'], env);
    expect(lines.join('\n')).toMatch(/^ +Roles +Tenant$/m);
    expect(lines.at(-1)).toContain('esign envelopes create --template tmpl_long');
    expect(lines.length).toBeLessThan(12);
    const all = await screenOf(['templates', 'get', 'tmpl_long', '--all'], env);
    expect(all.filter((line) => line.includes('TEXT'))).toHaveLength(60);
  });
});

describe('late on a terminal', () => {
  it('shows a person with many envelopes as one line, and the command that reminds exactly these', async () => {
    const lines = await screenOf(['late', '--status', 'open']);
    const hanna = lines.filter((line) => line.includes('Hanna'));
    const late = linesOf((await home.run`late --status open -q`).stdout);
    const ofHanna = late.filter((line) => / boss_\d+$/.test(line)).length;
    expect(hanna).toEqual([
      expect.stringMatching(new RegExp(`^Hanna Richter +${ofHanna} envelopes +up to 15 days`)),
    ]);
    expect(lines.at(-1)).toBe('Remind them:  esign late --status open -q | esign envelopes remind -');
    // Each line is an envelope and its late signer.
    for (const line of late) expect(line).toMatch(/^env_(\d+) (?:s|boss)_\1$/);
  });
});

describe('a dry run on a terminal', () => {
  it('shows all people of an envelope without cutting their names, and the totals', async () => {
    const names = ['Maximiliana-Antoinette Hohenzollern-Sigmaringen', 'Kateřina Yılmaz', 'Hanna Richter'];
    const signers = names.map((name, n) => ({ id: `long_${n}`, name, email: `long${n}@acme.example` }));
    const subject = 'Residential lease for the apartment on the fourth floor';
    const id = service.make({ subject, signers: signers.map((one) => ({ ...one, status: 'SENT' })) }).id;
    const lines = await screenOf([
      'envelopes',
      'cancel',
      '--dry-run',
      id,
      service.make({ status: 'DRAFT' }).id,
    ]);
    const people = lines.slice(1, -2).map((line) => line.slice(0, lines[0]?.indexOf('SUBJECT')).trim());
    expect(people.join(' ')).toContain(listed(names));
    expect(lines.join('\n')).toContain(id);
    expect(lines.join('\n')).toMatch(
      /^Would cancel 2 envelopes for \d people\. Nothing was sent or changed\.$/m,
    );
  });
});

describe('a run that does not exist', () => {
  it('is an empty report, and an error of commands that act on it', async () => {
    expect(await home.object(['report', '--run', 'nope'])).toMatchObject({ sent: 0 });
    expect((await home.run`envelopes remind --run nope --yes`).code).toBe(4);
  });
});

it('a run whose markers the list leaves empty is found by commands that act on it', async () => {
  const metadata = { esignRun: 'run-elsewhere', esignRow: 1 };
  const { env } = await fakeService((request, response) => {
    const one = { id: 'env_1', status: 'SENT', createdAt: '2026-01-02T03:04:05Z', signers: [] };
    if (request.path.endsWith('/env_1')) return json(response, 200, { data: { ...one, metadata } });
    answerPage(request, response, 1, () => ({ ...one, metadata: {} }));
  });
  const words = ['envelopes', 'cancel', '--run', 'run-elsewhere', '--dry-run'];
  const cancel = await home.run(words, { env });
  expect([cancel.code, cancel.stdout]).toEqual([0, expect.stringContaining('env_1')]);
});
