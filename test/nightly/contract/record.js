import { EXPECTED } from './expected.js';

const OPERATIONS = [
  ['GET', '/esign/templates'],
  ['GET', '/esign/templates/{id}'],
  ['GET', '/esign/envelopes'],
  ['POST', '/esign/envelopes'],
  ['GET', '/esign/envelopes/{id}'],
  ['POST', '/esign/envelopes/{id}/send'],
  ['POST', '/esign/envelopes/{id}/cancel'],
  ['POST', '/esign/envelopes/{id}/remind'],
].map(([method, path]) => `${method} ${path}`);

/** Records all exchanges of a run: their number by kind, and the violations. */
export class Record {
  #judge;
  #pending = [];
  /** Operation to status to count. */
  #seen = new Map();
  #violations = [];
  #met = new Set();

  constructor(judge) {
    this.#judge = judge;
  }

  add(exchange) {
    this.#pending.push(this.#take(exchange));
  }

  /** Returns the report. A run of the whole suite must also have covered every operation and every expectation. */
  async close({ whole }) {
    await Promise.all(this.#pending);
    const gaps = whole ? [...this.#unusedOperations(), ...this.#unmetExpectations()] : [];
    return {
      ok: this.#violations.length === 0 && gaps.length === 0 && this.#pending.length > 0,
      lines: [
        '',
        `Contract: ${this.#pending.length} exchanges, ${this.#violations.length} violations`,
        ...[...this.#seen].sort().map(([operation, statuses]) => `  ${operation}  ${counts(statuses)}`),
        `  ${this.#met.size} of ${EXPECTED.length} faults made on purpose met (test/nightly/contract/expected.js)`,
        ...this.#violations.map((one) => `✗ ${one}`),
        ...gaps.map((one) => `✗ ${one}`),
      ],
    };
  }

  async #take(exchange) {
    const { method, response, left } = exchange;
    const path = exchange.url.replace(/^\/api\/v1/, '');
    const status = response ? String(response.status) : left ? 'client left' : 'broken off';
    this.#count(`${method} ${generalized(path)}`, status);
    const problems = await this.#judge(exchange);
    if (status === 'broken off') problems.push('response: broken off');
    for (const what of problems) {
      const one = { method, path, status, what };
      const expected = EXPECTED.find((entry) => matches(entry, one));
      if (expected) this.#met.add(expected);
      else this.#violations.push(`${method} ${path}  ${status}  ${what}`);
    }
  }

  #count(operation, status) {
    const statuses = this.#seen.get(operation) ?? new Map();
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    this.#seen.set(operation, statuses);
  }

  #unusedOperations() {
    return OPERATIONS.filter(
      (operation) => ![...(this.#seen.get(operation)?.keys() ?? [])].some((status) => status.startsWith('2')),
    ).map((operation) => `${operation}  never succeeded: the suite does not cover it`);
  }

  #unmetExpectations() {
    return EXPECTED.filter((entry) => !this.#met.has(entry)).map(
      (entry) => `${entry.method} ${entry.path}  ${entry.status}  expected (${entry.why}) but never met`,
    );
  }
}

function matches(entry, { method, path, status, what }) {
  return (
    entry.method === method &&
    entry.path === generalized(path) &&
    entry.status === status &&
    entry.what.test(what)
  );
}

/** `/esign/envelopes/env_1/send?x=1` is `/esign/envelopes/{id}/send`. */
function generalized(path) {
  return path.replace(/\?.*$/, '').replace(/^(\/esign\/\w+)\/[^/]+/, '$1/{id}');
}

function counts(statuses) {
  return [...statuses]
    .sort()
    .map(([status, number]) => `${status} ×${number}`)
    .join(', ');
}
