import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import type { Template } from '../api/schemas.ts';
import { counted, durationInWords } from '../kernel/duration.ts';
import { UsageError } from '../kernel/errors.ts';
import { tryParseJson } from '../kernel/json.ts';
import type { Templates } from './check.ts';

const FORMAT = 'esign-plan/1';

const text = z.nullable(z.string());
const count = z.int().check(z.nonnegative());

/** The flags of `bulk create` that change what is sent or how, by name. */
const flagsSchema = z.object({
  template: text,
  subject: text,
  message: text,
  'one-step': z.boolean(),
  'allow-missing-roles': z.boolean(),
  /** The fingerprint of the webhook secret. */
  'webhook-secret': text,
  'skip-existing': z.boolean(),
  again: z.boolean(),
  /** The flag as given; null if the whole list is sent at the same time. */
  waves: text,
  'stop-if': text,
});

const planSchema = z.object({
  format: z.literal(FORMAT),
  version: z.string(),
  createdAt: z.iso.datetime(),
  baseUrl: z.string(),
  /** The fingerprint of the API key. */
  key: z.string(),
  /** The hash of the cells. */
  rows: z.string(),
  flags: flagsSchema,
  templates: z.array(
    z.object({ id: z.string(), updatedAt: text, fields: z.array(z.record(z.string(), z.unknown())) }),
  ),
  counts: z.object({
    rows: count,
    envelopes: count,
    signers: count,
    emails: count,
    requests: count,
    failed: count,
  }),
});
export type Plan = z.infer<typeof planSchema>;
export type PlanTemplate = Plan['templates'][number];

/** The facts about a run that a plan records. */
export type PlanFacts = Pick<Plan, 'baseUrl' | 'key' | 'rows' | 'flags'>;

/** Returns the plan as the text of its file, indented so that versions can be compared. */
export function planText(plan: Omit<Plan, 'format'>): string {
  return `${JSON.stringify({ format: FORMAT, ...plan }, undefined, 2)}\n`;
}

/** Reads the text of a plan. @throws UsageError when it is not a plan. */
export function readPlan(content: string, path: string): Plan {
  const result = planSchema.safeParse(tryParseJson(content));
  if (result.success) return result.data;
  const where = result.error.issues[0]?.path.join('.');
  const why = where ? `${where} is missing or invalid` : 'it does not contain a JSON object';
  throw new UsageError(`${path} is not a plan: ${why}.`, {
    hint: 'Write a plan with `esign bulk rehearse FILE --plan PLAN`. Nothing was sent.',
  });
}

/** Returns what a plan records about the templates. Templates that don't exist are left out. */
export function plannedTemplates(templates: Templates): PlanTemplate[] {
  return [...templates.values()].flatMap((template) => (template === undefined ? [] : [planned(template)]));
}

function planned({ id, updatedAt, fields }: Template): PlanTemplate {
  return { id, updatedAt: updatedAt ?? null, fields: fields ?? [] };
}

export interface PlanLimits {
  now: number;
  /** The maximum age of the plan, in ms. */
  maxAgeMs: number;
}

/** Tolerated clock error, in ms. */
const SKEW_MS = 5 * 60_000;

/** Returns the differences between a plan and a run, one sentence each. */
export function planDifferences(
  plan: Plan,
  facts: PlanFacts,
  templates: Templates,
  limits: PlanLimits,
): string[] {
  return [
    ...ageProblems(plan, limits),
    ...(plan.rows === facts.rows
      ? []
      : [`The rows have changed since the rehearsal, which had ${counted(plan.counts.rows, 'row')}.`]),
    ...flagDifferences(plan.flags, facts.flags),
    ...plan.templates.flatMap((template) => templateDifferences(template, templates.get(template.id))),
    ...(plan.baseUrl === facts.baseUrl
      ? []
      : [`The base URL is ${facts.baseUrl}; the plan is for ${plan.baseUrl}.`]),
    ...(plan.key === facts.key ? [] : ['The API key is not the one used for the plan.']),
  ];
}

function ageProblems({ createdAt }: Plan, { now, maxAgeMs }: PlanLimits): string[] {
  const ageMs = now - Date.parse(createdAt);
  if (ageMs < -SKEW_MS) return [`The plan's time, ${createdAt}, is in the future.`];
  if (ageMs <= maxAgeMs) return [];
  return [
    `The plan is ${durationInWords(ageMs)} old (created ${createdAt}); --plan-age allows up to ${durationInWords(maxAgeMs)}.`,
  ];
}

function flagDifferences(planned: Plan['flags'], given: Plan['flags']): string[] {
  const secret = planned['webhook-secret'] === given['webhook-secret'];
  const names = [
    'template',
    'subject',
    'message',
    'one-step',
    'allow-missing-roles',
    'skip-existing',
    'again',
  ] as const;
  return [
    ...names
      .filter((name) => planned[name] !== given[name])
      .map((name) => differenceOf(name, planned[name], given[name])),
    ...waveDifferences(planned, given),
    ...(secret ? [] : ['The webhook secret is not the one used for the plan.']),
  ];
}

/**
 * Returns the differences in the waves. A run that was planned as a whole can be sent in waves, but a run that was planned in
 * waves can be sent only in these.
 */
function waveDifferences(planned: Plan['flags'], given: Plan['flags']): string[] {
  if (planned.waves === null) return [];
  return (['waves', 'stop-if'] as const)
    .filter((name) => planned[name] !== given[name])
    .map((name) => differenceOf(name, planned[name], given[name]));
}

function differenceOf(name: string, planned: FlagValue, given: FlagValue): string {
  return `--${name} is ${shown(given)}; in the plan, it is ${shown(planned)}.`;
}

type FlagValue = string | boolean | null;

const MAX_SHOWN_LENGTH = 60;

function shown(value: FlagValue): string {
  if (value === null || value === false) return 'not set';
  if (value === true) return 'set';
  return JSON.stringify(value.length > MAX_SHOWN_LENGTH ? `${value.slice(0, MAX_SHOWN_LENGTH)}…` : value);
}

function templateDifferences(before: PlanTemplate, template: Template | undefined): string[] {
  const { id } = before;
  if (template === undefined) return [`Template ${id} no longer exists.`];
  const after = planned(template);
  const [old, current] = [fieldsById(before), fieldsById(after)];
  return [
    ...(before.updatedAt === after.updatedAt
      ? []
      : [`Template ${id} was updated at ${after.updatedAt ?? 'an unknown time'}.`]),
    ...[...current.keys()]
      .filter((name) => !old.has(name))
      .map((name) => `Field ${name} of template ${id} is new.`),
    ...[...old].flatMap(([name, field]) => {
      const now = current.get(name);
      if (now === undefined) return [`Field ${name} of template ${id} was removed.`];
      return isDeepStrictEqual(now, field) ? [] : [`Field ${name} of template ${id} has changed.`];
    }),
  ];
}

/** Returns the fields by ID. Fields without an ID, or with a duplicate one, are identified by position. */
function fieldsById({ fields }: PlanTemplate): Map<string, PlanTemplate['fields'][number]> {
  const byId = new Map<string, PlanTemplate['fields'][number]>();
  for (const [index, field] of fields.entries()) {
    const { fieldId } = field;
    const isOwn = typeof fieldId === 'string' && fieldId !== '' && !byId.has(fieldId);
    byId.set(isOwn ? fieldId : `${index + 1}`, field);
  }
  return byId;
}
