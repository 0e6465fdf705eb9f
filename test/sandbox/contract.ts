import { readFile } from 'node:fs/promises';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import * as z from 'zod';
import type { Reply } from './rig.ts';

const file = new URL('../../contract/openapi.yaml', import.meta.url);
const ID = 'https://contract.invalid/openapi';
/** The code belongs to its status (Errors); any other code is not in the document. */
const CODES: Readonly<Record<number, readonly string[]>> = {
  400: ['VALIDATION_ERROR', 'INVALID_STATE'],
  401: ['UNAUTHORIZED'],
  403: ['FORBIDDEN', 'QUOTA_EXCEEDED'],
  404: ['NOT_FOUND'],
  429: ['RATE_LIMITED'],
};
/** Keywords that don't restrict a value. */
const ANNOTATIONS = ['components', 'x-not-shown', 'example'];
/** Objects whose fields the document lists completely. */
const COMPLETE = [
  ['Template', 'TemplateField', 'TemplateReply', 'TemplateList', 'Envelope', 'EnvelopeReply', 'EnvelopeList'],
  ['Signer', 'Pagination', 'ListMeta', 'Error'],
].flat();

const object = z.record(z.string(), z.unknown());
const reference = z.object({ $ref: z.string() });
const documentSchema = z.looseObject({
  paths: z.record(z.string(), object),
  components: z.looseObject({ schemas: z.record(z.string(), object) }),
});
const responseSchema = z.looseObject({
  headers: z.record(z.string(), z.unknown()).optional(),
  content: z.object({ 'application/json': z.object({ schema: object }) }).optional(),
});
type Response = z.infer<typeof responseSchema>;

/** Judges responses by the contract. */
export class Contract {
  /** Every described response, as `GET /esign/templates 200`. */
  readonly described = new Map<string, Response>();
  /** Those that a response was judged by. */
  readonly met = new Set<string>();
  private readonly ajv: Ajv2020;
  private readonly validators = new Map<string, ValidateFunction>();
  private readonly root: z.infer<typeof documentSchema>;

  /** `closed`: objects have only fields that the document lists. */
  constructor(text: string, options: { closed: boolean }) {
    this.root = documentSchema.parse(parse(text));
    const { schemas } = this.root.components;
    if (options.closed)
      for (const name of COMPLETE) Object.assign(schemas[name] ?? {}, { additionalProperties: false });
    this.ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true, allErrors: true });
    for (const keyword of ANNOTATIONS) this.ajv.addKeyword(keyword);
    addFormats(this.ajv);
    this.ajv.addSchema({ $id: ID, components: { schemas } });
    for (const [path, item] of Object.entries(this.root.paths))
      for (const [method, operation] of Object.entries(item))
        if (method !== 'parameters') this.describe(`${method.toUpperCase()} ${path}`, operation);
  }

  static async read(options: { closed: boolean }): Promise<Contract> {
    return new Contract(await readFile(file, 'utf8'), options);
  }

  /** The violations of a schema of the contract. */
  problemsOf(name: string, value: unknown): string[] {
    return this.check({ $ref: `#/components/schemas/${name}` }, value);
  }

  /** The violations of a response. `path` is the path of the request. */
  problemsIn(method: string, path: string, reply: Reply): string[] {
    const operation = `${method} ${templated(path)}`;
    const range = `${Math.trunc(reply.status / 100)}XX`;
    const name = [`${operation} ${reply.status}`, `${operation} ${range}`].find((one) =>
      this.described.has(one),
    );
    const response = this.described.get(name ?? '');
    if (name === undefined || response === undefined)
      return [`${operation} has no ${reply.status}, which the sandbox gave: ${reply.text}`];
    this.met.add(name);
    return [
      ...this.headerProblems(response, reply),
      ...this.bodyProblems(response, reply),
      ...codeProblems(reply),
    ].map((one) => `${name}: ${one}`);
  }

  private describe(operation: string, value: unknown): void {
    const { responses } = z.object({ responses: object }).parse(value);
    for (const [status, response] of Object.entries(responses))
      this.described.set(`${operation} ${status}`, responseSchema.parse(this.resolved(response)));
  }

  /** The document promises the three rate-limit headers; the sandbox sends them with every response that describes them. */
  private headerProblems(response: Response, { headers }: Reply): string[] {
    return Object.entries(response.headers ?? {}).flatMap(([name, header]) => {
      const value = headers.get(name);
      if (value === null) return [`${name} is missing`];
      const { schema } = z.object({ schema: object }).parse(this.resolved(header));
      return this.check(schema, /^-?\d+$/.test(value) ? Number(value) : value).map((one) => `${name} ${one}`);
    });
  }

  private bodyProblems(response: Response, reply: Reply): string[] {
    const schema = response.content?.['application/json'].schema;
    if (schema === undefined) return reply.text === '' ? [] : ['a body where none is described'];
    const type = reply.headers.get('content-type') ?? '';
    if (!/^application\/json(?:;|$)/.test(type)) return [`the body is ${type}`];
    return this.check(schema, reply.body);
  }

  private check(schema: Record<string, unknown>, value: unknown): string[] {
    const validate = this.compiled(schema);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath || 'all'} ${message} ${JSON.stringify(params)}`,
    );
  }

  private compiled(schema: Record<string, unknown>): ValidateFunction {
    const { $ref } = reference.partial().parse(schema);
    const name = $ref ?? JSON.stringify(schema);
    const known = this.validators.get(name);
    if (known) return known;
    const compiled = this.ajv.compile($ref === undefined ? schema : { $ref: `${ID}${$ref}` });
    this.validators.set(name, compiled);
    return compiled;
  }

  private resolved(value: unknown): unknown {
    const found = reference.safeParse(value);
    if (!found.success) return value;
    const steps = found.data.$ref.replace(/^#\//, '').split('/');
    return steps.reduce<unknown>((at, step) => object.parse(at)[step], this.root);
  }
}

function codeProblems({ status, body }: Reply): string[] {
  const error = z.object({ error: z.object({ code: z.string() }) }).safeParse(body);
  if (!error.success) return [];
  const { code } = error.data.error;
  return CODES[status]?.includes(code) ? [] : [`${code} does not belong to ${status}`];
}

/** `/esign/envelopes/env_1/send?x=1` is `/esign/envelopes/{envelopeId}/send`. */
function templated(path: string): string {
  return path
    .replace(/\?.*$/, '')
    .replace(/^(\/esign\/templates\/)[^/]+/, '$1{templateId}')
    .replace(/^(\/esign\/envelopes\/)[^/]+/, '$1{envelopeId}');
}
