import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { combineGuards } from '../../../src/settings/guards/guards.ts';
import { readPolicy } from '../../../src/settings/guards/policy.ts';
import { newFolder } from '../../support/folder.ts';

let root: string;
const owner = process.getuid?.() ?? 0;
const read = (more: { owner?: number } = {}) => readPolicy({ root, owner, ...more });
const path = () => join(root, 'etc/esign/policy.json');

async function write(text: string): Promise<void> {
  await mkdir(join(root, 'etc/esign'), { recursive: true, mode: 0o755 });
  await writeFile(path(), text, { mode: 0o644 });
}

beforeEach(() => {
  root = newFolder();
});

describe('the policy file', () => {
  it('is not needed', async () => {
    expect(await read()).toEqual({ state: 'none' });
    await mkdir(join(root, 'etc/esign'), { recursive: true });
    expect(await read()).toEqual({ state: 'none' });
  });

  it('is read with all its keys', async () => {
    const policy = {
      readOnly: true,
      onlyTo: [],
      maxEmails: 0,
      confirmName: false,
    };
    await write(JSON.stringify(policy));
    expect(await read()).toEqual({ state: 'set', path: path(), policy });
  });

  it.each([
    '',
    '[]',
    'null',
    '{"maxEmails":1.5}',
    '{"maxEmails":-1}',
    '{"onlyTo":"a@b.cd"}',
    '{"onlyTo":["*"]}',
    '{"onlyTo":["*@*.example.com"]}',
    '{"x":1}',
    '{"readOnly":null}',
  ])('is malformed: %s', async (text) => {
    await write(text);
    expect(await read()).toMatchObject({ state: 'unusable' });
  });

  it.each([
    ['belongs to someone else', () => undefined, owner + 1],
    ['is writable by the group', () => chmod(path(), 0o664), owner],
    ['is in a folder that others can change', () => chmod(join(root, 'etc/esign'), 0o777), owner],
    ['is a folder', () => rm(path()).then(() => mkdir(path(), { mode: 0o755 })), owner],
  ])('is unusable when it %s', async (_how, change, by) => {
    await write('{}');
    await change();
    expect(await read({ owner: by })).toMatchObject({ state: 'unusable' });
  });

  it('is unusable behind a symbolic link', async () => {
    await write('{}');
    await rm(path());
    await writeFile(join(root, 'elsewhere'), '{}');
    await symlink(join(root, 'elsewhere'), path());
    expect(await read()).toMatchObject({ state: 'unusable' });
  });
});

it('combines with a profile to the strictest value', () => {
  const policy = { maxEmails: 3, onlyTo: ['*@example.com', 'ann@x.org'], confirmName: false };
  const profile = {
    readOnly: true,
    maxEmails: 9,
    onlyTo: ['bo@EXAMPLE.com', 'ann@eu.example.com', '*@X.org'],
  };
  expect(combineGuards(profile, { state: 'set', path: '/p', policy })).toMatchObject({
    readOnly: { value: true, source: 'profile' },
    onlyTo: { value: ['bo@example.com', 'ann@x.org'], source: 'profile and policy' },
    maxEmails: { value: 3, source: 'policy' },
    confirmName: null,
  });
});
