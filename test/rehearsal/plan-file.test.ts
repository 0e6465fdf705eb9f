import { expect, it } from 'vitest';
import type { Template } from '../../src/api/schemas.ts';
import {
  type PlanFacts,
  planDifferences,
  plannedTemplates,
  planText,
  readPlan,
} from '../../src/rehearsal/plan-file.ts';

const NOW = Date.parse('2026-03-02T12:00:00Z');
const LIMITS = { now: NOW, maxAgeMs: 24 * 3_600_000 };
const FACTS: PlanFacts = {
  baseUrl: 'https://api.example.com',
  key: '00',
  rows: '11',
  flags: {
    template: 'tmpl_a',
    subject: null,
    message: null,
    'one-step': false,
    'allow-missing-roles': false,
    'webhook-secret': null,
    'skip-existing': false,
    again: false,
    waves: null,
    'stop-if': null,
  },
};
const field = (fieldId: string, label: string) => ({ fieldId, type: 'TEXT', label });
const template = (...fields: Template['fields'] & object): Template => ({
  id: 'tmpl_a',
  updatedAt: 't',
  fields,
});
const templates = (one: Template | undefined) => new Map([['tmpl_a', one]]);

const counts = { rows: 1, envelopes: 1, signers: 1, emails: 1, requests: 2, failed: 0 };
const planAt = (at: number) =>
  readPlan(
    planText({
      ...FACTS,
      version: '1.0.0',
      createdAt: new Date(at).toISOString(),
      templates: plannedTemplates(templates(template(field('a', 'A'), field('b', 'B')))),
      counts,
    }),
    'plan.json',
  );
const differences = (one: Template | undefined, at = NOW) =>
  planDifferences(planAt(at), FACTS, templates(one), LIMITS);

it('finds no difference in the same template, for any key order', () => {
  expect(differences(template(field('a', 'A'), { label: 'B', type: 'TEXT', fieldId: 'b' }))).toEqual([]);
});

it('reports each new, removed, or changed field, and a deleted template', () => {
  expect(differences(template(field('a', 'X'), field('c', 'C')))).toEqual([
    expect.stringContaining('Field c'),
    expect.stringContaining('Field a'),
    expect.stringContaining('Field b'),
  ]);
  expect(differences(undefined)).toEqual([expect.stringContaining('tmpl_a')]);
});

it('accepts a plan up to the maximum age, and none from the future', () => {
  const same = template(field('a', 'A'), field('b', 'B'));
  expect(differences(same, NOW - LIMITS.maxAgeMs)).toEqual([]);
  expect(differences(same, NOW - LIMITS.maxAgeMs - 1)).toHaveLength(1);
  expect(differences(same, NOW + 3_600_000)).toHaveLength(1);
});

it('lets a list that was rehearsed as a whole be sent in waves, and not the other way around', () => {
  const same = templates(template(field('a', 'A'), field('b', 'B')));
  const inWaves: PlanFacts = {
    ...FACTS,
    flags: { ...FACTS.flags, waves: '20,200', 'stop-if': 'declined>2%' },
  };
  const plan = planAt(NOW);
  expect(planDifferences(plan, inWaves, same, LIMITS)).toEqual([]);
  const planned = { ...plan, flags: inWaves.flags };
  expect(planDifferences(planned, inWaves, same, LIMITS)).toEqual([]);
  expect(planDifferences(planned, FACTS, same, LIMITS)).toHaveLength(2);
});
