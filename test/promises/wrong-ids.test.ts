import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home, reportedError } from '../support/cli.ts';

const home = new Home();
let id = '';

beforeAll(async () => {
  await home.sandbox();
  const create = ['envelopes', 'create', '--template', 'tmpl_nda', '--send', '-q'];
  id = (await home.run`${create} --signer 'Ada <ada@example.com>'`).stdout.trim();
});
afterAll(() => home.close());

const words = (line: string) => line.replaceAll('ENV', id).split(' ');
const fails = async (line: string) => home.run(words(line));

describe('an ID that does not exist', () => {
  it.each([
    ['templates get tmpl_leas', 'tmpl_leas: Template', 'tmpl_lease', 'esign templates list'],
    [
      'envelopes create --template tmpl_leas --signer a@b.c',
      'tmpl_leas: Template',
      'tmpl_lease',
      'templates',
    ],
    ['envelopes get ENVx', 'ENVx: Envelope', 'ENV', 'esign envelopes list'],
    ['envelopes send ENVx', 'ENVx: Envelope', 'ENV', 'esign envelopes list'],
    ['envelopes get ENVx ENVy', 'ENVx: Envelope', 'ENV', 'esign envelopes list'],
    ['sandbox sign ENVx', 'ENVx: Envelope', 'ENV', 'esign envelopes list'],
  ])('is reported with the closest one and where to look: %s', async (line, named, meant, list) => {
    const { stderr, code } = await fails(line);
    expect([4, 10]).toContain(code);
    expect(stderr).toContain(`Error: ${named.replace('ENV', id)} not found (NOT_FOUND)`);
    expect(stderr).toContain(`Did you mean ${meant.replace('ENV', id)}?`);
    expect(stderr).toContain(list);
  });

  it("is also reported with the closest one in a bulk run, if it is a template's", async () => {
    await writeFile(home.path('rows.csv'), 'email\na@b.c\n');
    const { stderr, code } = await home.run`bulk create rows.csv --template tmpl_leas --dry-run`;
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/tmpl_leas .*tmpl_lease\?.*`esign templates list`/),
    ]);
  });

  it('is reported with the closest template in the list; JSON and the exit code stay the same', async () => {
    const said =
      'tmpl_nd: Template not found. Did you mean tmpl_nda? `esign templates list` lists the templates.';
    for (const more of ['', ' -q', ' --csv', ' --status SENT', ' --signer ada']) {
      const { code, stderr } = await fails(`envelopes list --template tmpl_nd${more}`);
      expect([more, code, stderr]).toEqual([more, 0, expect.stringContaining(said)]);
    }
    const json = await fails('envelopes list --template tmpl_nd --json');
    expect(json).toMatchObject({ code: 0, stdout: '[]\n', stderr: '' });
    const none = await fails('envelopes list --template tmpl_lease');
    expect(none).toMatchObject({ code: 0, stderr: '' });
  });

  it('has a suggestion only if a similar one exists', async () => {
    const { stderr } = await fails('envelopes get something-else-altogether');
    expect(stderr).toMatch(/`esign envelopes list`/);
  });

  it('causes at most one list request', async () => {
    const { stderr, code } = await fails('envelopes get ENVx ENVy ENVz --debug');
    expect(code).toBe(10);
    expect(stderr.match(/→ GET \S+\/esign\/envelopes\?/g)).toHaveLength(1);
  });
});

describe('an invalid state', () => {
  it('names the envelope in the command that shows its state', async () => {
    const { stderr, code } = await fails('envelopes send ENV');
    expect([code, stderr]).toEqual([5, expect.stringContaining(`\`esign envelopes get ${id}\``)]);
  });

  it.each(['sandbox sign', 'sandbox view', 'sandbox decline', 'envelopes remind'])(
    'lists the signers for a signer of another envelope: %s',
    async (command) => {
      const { stderr } = await fails(`${command} ENV --signer bob@example.com`);
      expect(stderr).toMatch(new RegExp(`bob@example\\.com .*${id}`));
      expect(stderr).toContain('Its signers are ada@example.com.');
    },
  );

  it('keeps code and exit code', async () => {
    const wrong = await fails('sandbox sign ENV --signer bob@example.com --json');
    expect([wrong.code, reportedError(wrong).code]).toEqual([4, 'NOT_FOUND']);
  });
});

describe("a template's name", () => {
  it('is accepted if it is unique', async () => {
    const lease = await home.object`templates get 'residential LEASE'`;
    expect(lease.id).toBe('tmpl_lease');
    const nda = String((await home.object`templates get tmpl_nda`).name);
    expect(await home.json`envelopes list --template ${nda.toUpperCase()}`).toMatchObject([{ id }]);
    expect(await home.json`envelopes list --template 'residential lease'`).toEqual([]);
  });

  it('is recognized where an ID is required', async () => {
    const create = ['envelopes', 'create', '--signer', 'a@b.c', '--template', 'Residential lease'];
    const { stderr, code } = await home.run(create);
    expect([code, stderr]).toEqual([4, expect.stringContaining('Did you mean tmpl_lease?')]);
  });
});
