import { DOCUMENT } from './api-document.ts';
import type { SeenForm } from './record.ts';

/** An observation about the service's responses. */
export interface CompatibilityFinding {
  what: string;
  /** The section of the API document, and the requests. */
  where: string;
  /** When it was first seen. */
  since: string;
  /** The number of responses in which it was seen. */
  times: number;
}

export interface OpenPointFinding extends CompatibilityFinding {
  /** The observed behavior of the service. */
  seen: string[];
}

export interface CompatibilityReport {
  documented: CompatibilityFinding[];
  openPoints: OpenPointFinding[];
  contradictions: CompatibilityFinding[];
  neverSeen: { what: string; where: string }[];
}

/** Returns text such as `list-order: desc. The sort order of the envelope list.` */
export function openPointText(finding: OpenPointFinding): string {
  const { name, description } = openPointParts(finding.what);
  return `${name}: ${finding.seen.join('; ')}${description === '' ? '' : `. ${description}`}`;
}

/** Splits the name of an open point from its description. Some have no description. */
export function openPointParts(what: string): { name: string; description: string } {
  const [name = what] = what.split(': ', 1);
  return { name, description: what.slice(name.length + 2) };
}

/** Returns a finding for one or more forms of a place. */
export function findingOf(what: string, section: string, forms: readonly SeenForm[]): CompatibilityFinding {
  const operations = [...new Set(forms.flatMap((form) => form.in))];
  return {
    what,
    where: [section, requestsOf(operations)].filter((part) => part !== '').join(': '),
    since: forms.map(({ since }) => since).sort()[0] ?? '',
    times: forms.reduce((sum, { times }) => sum + times, 0),
  };
}

/** Returns the names of requests and events, such as `GET /esign/envelopes`. */
function requestsOf(ids: readonly string[]): string {
  const names = ids.map((id) => {
    const operation = DOCUMENT.operations.find((one) => one.id === id);
    return operation === undefined ? id : `${operation.method} ${operation.path}`;
  });
  return names.filter((name) => name !== '').join(', ');
}

/** Properties of templates that show the roles. */
export const ROLES = ['Template.roles', 'TemplateField.role'];
