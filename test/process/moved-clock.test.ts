import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home, linesOf } from '../support/cli.ts';

const home = new Home();
const create = async (subject: string, ...args: string[]) => {
  const signer = 'Ada <ada@example.com>';
  const words = ['envelopes', 'create', '--template', 'tmpl_nda', '--signer', signer, '--subject', subject];
  return (await home.run`${words} --send -q ${args}`).stdout.trim();
};
const ids = async (...filters: string[]) =>
  linesOf((await home.run`envelopes list --all -q ${filters}`).stdout);

let old = '';
let expired = '';
let young = '';

beforeAll(async () => {
  await home.sandbox();
  old = await create('old');
  expired = await create('expired', '--expires-in-days', '9');
  await home.run`sandbox advance 11d`;
  young = await create('young');
});
afterAll(() => home.close());

describe("ages are measured by the service's clock", () => {
  it("filters by the service's clock", async () => {
    expect(await ids('--older-than', '7d', '--status', 'SENT')).toEqual([old]);
    expect(await ids('--since', '7d')).toEqual([young]);
    expect(await ids('--expiring-in', '20d')).toEqual([old]);
    expect(await ids('--older-than', '12d')).toEqual([]);
  });

  it("shows ages by the service's clock", async () => {
    const get = async (id: string) => (await home.run`envelopes get ${id}`).stdout;
    expect(await get(young)).toMatch(/just now, .* 30 days/);
    expect(await get(old)).toMatch(/11 days ago, .* 19 days/);
    expect(await get(expired)).toMatch(/Expired 2 days ago; .*Ada/);
  });

  it("uses the service's clock in the doctor", async () => {
    const { stdout, code } = await home.run`doctor --json`;
    expect([code, stdout]).toEqual([0, expect.stringMatching(/11 days ahead/)]);
  });
});
