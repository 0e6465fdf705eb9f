import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { UsageError } from '../../src/kernel/errors.ts';
import { parseJson } from '../../src/kernel/json.ts';
import { addProfile, applyChanges, checkName, removeProfile } from '../../src/profiles/edit.ts';
import { readProfiles, storePath } from '../../src/profiles/store.ts';
import { updateProfiles } from '../../src/profiles/update-store.ts';
import { newWebhookSecret } from '../../src/profiles/webhook-secrets.ts';
import { isPrivate } from '../support/private.ts';

let folder: string;
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'esign-profiles-')), 'config');
});
afterEach(async () => {
  await rm(join(folder, '..'), { recursive: true, force: true });
});

const profile = { baseUrl: 'https://api.example.com/api/v1', apiKey: 'sk_live_0123456789' };

describe('the profile store', () => {
  it('is empty before the first profile, and reading creates nothing', async () => {
    expect(readProfiles(folder)).toEqual({ current: undefined, profiles: {} });
    await expect(stat(folder)).rejects.toThrow('ENOENT');
  });

  it('has a 0600 file in a 0700 folder; the first profile becomes current', async () => {
    await updateProfiles(folder, (store) => addProfile(store, 'acme', profile));
    await updateProfiles(folder, (store) => addProfile(store, 'other', profile));
    expect(readProfiles(folder)).toMatchObject({
      current: 'acme',
      profiles: { acme: profile, other: profile },
    });
    expect(isPrivate(storePath(folder))).toBe(true);
    expect(isPrivate(folder)).toBe(true);
  });

  it('loses none of many concurrent changes', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `p${i}`);
    await Promise.all(
      names.map((name) => updateProfiles(folder, (store) => addProfile(store, name, profile))),
    );
    expect(Object.keys(readProfiles(folder).profiles).sort()).toEqual(names.sort());
  });

  it.each(['{', '[]', '{"profiles":{"a":{"baseUrl":5}}}', ''])(
    "reports a corrupt file (%j) with its path and doesn't change it",
    async (text) => {
      await updateProfiles(folder, (store) => addProfile(store, 'acme', profile));
      await writeFile(storePath(folder), text);
      expect(() => readProfiles(folder)).toThrow(storePath(folder));
      await expect(updateProfiles(folder, (store) => addProfile(store, 'b', profile))).rejects.toThrow(
        UsageError,
      );
      expect(await readFile(storePath(folder), 'utf8')).toBe(text);
    },
  );

  it('keeps unknown fields of a profile from a newer version', async () => {
    await updateProfiles(folder, (store) =>
      addProfile(store, 'acme', { ...profile, future: { setting: 1 } }),
    );
    await updateProfiles(folder, (store) => addProfile(store, 'b', profile));
    expect(readProfiles(folder).profiles.acme).toMatchObject({ future: { setting: 1 } });
  });

  it('keeps unknown fields next to the profiles, and reports its format', async () => {
    await updateProfiles(folder, (store) => addProfile(store, 'acme', profile));
    const path = storePath(folder);
    const { format: _, ...old } = z
      .record(z.string(), z.unknown())
      .parse(parseJson(await readFile(path, 'utf8')));
    // As 0.2 wrote it, with unknown fields.
    await writeFile(path, JSON.stringify({ ...old, aliases: { a: 'acme' } }));
    await updateProfiles(folder, (store) => addProfile(store, 'b', profile));
    expect(parseJson(await readFile(path, 'utf8'))).toMatchObject({
      format: 'esign-profiles/1',
      current: 'acme',
      aliases: { a: 'acme' },
      profiles: { acme: profile, b: profile },
    });
  });

  it("refuses a file of a later format, and doesn't change it", async () => {
    await updateProfiles(folder, (store) => addProfile(store, 'acme', profile));
    const text = JSON.stringify({ format: 'esign-profiles/2', profiles: {} });
    await writeFile(storePath(folder), text);
    await expect(updateProfiles(folder, (store) => addProfile(store, 'b', profile))).rejects.toThrow(
      UsageError,
    );
    expect(await readFile(storePath(folder), 'utf8')).toBe(text);
  });

  it('has no current profile after that profile is removed', async () => {
    await updateProfiles(folder, (store) => addProfile(store, 'acme', profile));
    await updateProfiles(folder, (store) => removeProfile(store, 'acme'));
    expect(readProfiles(folder)).toEqual({ current: undefined, profiles: {} });
  });
});

describe('a webhook secret', () => {
  it('has 256 random bits', () => {
    const made = Array.from({ length: 100 }, newWebhookSecret);
    for (const secret of made) expect(secret).toMatch(/^whsec_[\w-]{43}$/);
    expect(new Set(made).size).toBe(100);
  });
});

describe('changes to a profile', () => {
  it.each(['', 'a b', '../x', '__proto__', '-x', 'x'.repeat(65)])('refuse the name %j', (name) => {
    expect(() => checkName(name)).toThrow(UsageError);
  });

  it('keep fields that are not named, and remove emptied ones', () => {
    const before = applyChanges(undefined, {
      ...profile,
      bucket: 'b',
      endpoint: 'http://127.0.0.1:1',
      region: 'eu',
    });
    const after = applyChanges(before, { endpoint: '', region: 'us' });
    expect(after).toEqual({ ...profile, storage: { bucket: 'b', region: 'us' } });
  });

  it('replace a key with a command, and never keep both', () => {
    const after = applyChanges(applyChanges(undefined, profile), { apiKeyCommand: 'op read x' });
    expect(after).toEqual({ baseUrl: profile.baseUrl, apiKeyCommand: 'op read x' });
  });

  it.each(['http://api.example.com/api/v1', 'ftp://x', 'nonsense', 'https://u:p@x/'])(
    'refuse the base URL %s',
    (baseUrl) => {
      expect(() => applyChanges(undefined, { ...profile, baseUrl })).toThrow(UsageError);
    },
  );

  it.each(['https://user:PASSWORD@s3.example', 'https://user@s3.example', 's3.example', 'https://['])(
    'refuse the endpoint %s',
    (endpoint) => {
      const change = () => applyChanges(undefined, { ...profile, endpoint });
      expect(change).toThrow(UsageError);
      expect(change).not.toThrow('PASSWORD');
    },
  );

  it("need consent again for plain http if the profile's base URL changes", () => {
    const before = applyChanges(undefined, { ...profile, baseUrl: 'http://intra/v1', insecureHttp: true });
    expect(applyChanges(before, { region: 'eu' }).insecureHttp).toBe(true);
    expect(applyChanges(before, { baseUrl: 'https://intra/v1' })).not.toHaveProperty('insecureHttp');
    expect(() => applyChanges(before, { baseUrl: 'http://other/v1' })).toThrow('plain http');
  });

  it("allow http on loopback, and elsewhere only with consent; trailing slashes don't matter", () => {
    expect(applyChanges(undefined, { ...profile, baseUrl: 'http://127.0.0.1:4010/api/v1/' }).baseUrl).toBe(
      'http://127.0.0.1:4010/api/v1',
    );
    expect(
      applyChanges(undefined, { ...profile, baseUrl: 'http://intra/api/v1', insecureHttp: true })
        .insecureHttp,
    ).toBe(true);
  });
});
