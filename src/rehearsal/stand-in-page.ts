import type { Sandbox } from '../sandbox/index.ts';

type SandboxTemplate = ReturnType<Sandbox['control']['templates']>[number];

/** A page of a template's stand-in, with its fields. Positions are in points from the top left corner of an A4 page. */
export interface StandInPage extends Pick<SandboxTemplate, 'id' | 'name' | 'pageCount'> {
  page: number;
  fields: Pick<
    SandboxTemplate['fields'][number],
    'label' | 'type' | 'role' | 'required' | 'x' | 'y' | 'width' | 'height'
  >[];
}

const MAX_PAGES = 3;

/** Returns the first three pages of each stand-in. */
export function firstPages(templates: readonly SandboxTemplate[]): StandInPage[] {
  return templates.flatMap(({ id, name, pageCount, fields }) =>
    Array.from({ length: Math.min(MAX_PAGES, pageCount) }, (_, index) => ({
      id,
      name,
      pageCount,
      page: index + 1,
      fields: fields.filter(({ page }) => page === index + 1),
    })),
  );
}
