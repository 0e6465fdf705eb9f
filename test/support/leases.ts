import { isList, isRecord, parseJson } from '../../src/kernel/json.ts';
import type { Home } from './cli.ts';

/** Corrects the tenant's address. */
export const RIGHT = 'adda@example.com=Ada Lovelace <ada@example.com>';
const SIGNERS = [
  '--signer',
  'Ada <adda@example.com>;role=Tenant',
  '--signer',
  'Bo <bo@example.com>;role=Landlord',
];

/** Leases with a wrong address of the tenant, and what replaced them. */
export function leasesIn(home: Home) {
  return {
    lease: async (...more: string[]) =>
      String((await home.object`envelopes create --template tmpl_lease ${SIGNERS} ${more}`).id),
    get: (id: unknown) => home.object`envelopes get ${String(id)}`,
    /** The envelopes that replace this one. */
    madeFor: async (id: string) => {
      const all = await home.json`envelopes list --all`;
      const rows = isList(all) ? all.filter(isRecord) : [];
      return rows.filter(({ metadata }) => isRecord(metadata) && metadata.replaces === id);
    },
  };
}

/** An object in the printed JSON. */
export function part(text: string, name: string): Record<string, unknown> {
  const value = parseJson(text);
  const found = isRecord(value) ? value[name] : undefined;
  if (!isRecord(found)) throw new Error(`no ${name} in ${text}`);
  return found;
}
