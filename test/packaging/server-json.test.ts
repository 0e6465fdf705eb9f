import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';

it('describes the package of this version for the MCP registry', async () => {
  const read = async (name: string) =>
    parseJson(await readFile(join(import.meta.dirname, '../..', name), 'utf8'));
  const [server, manifest] = [await read('server.json'), await read('package.json')];
  const { name, mcpName, version } = isRecord(manifest) ? manifest : {};
  expect(server).toMatchObject({ name: mcpName, version, packages: [{ identifier: name, version }] });
});
