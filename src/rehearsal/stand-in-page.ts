import type { Sandbox } from '../sandbox/index.ts';

type SandboxTemplate = ReturnType<Sandbox['control']['templates']>[number];

/** A template's stand-in, and the fields on its first page. Places are in points from the top left corner of an A4 page. */
export interface StandInPage extends Pick<SandboxTemplate, 'id' | 'name' | 'pageCount'> {
  fields: Pick<
    SandboxTemplate['fields'][number],
    'label' | 'type' | 'role' | 'required' | 'x' | 'y' | 'width' | 'height'
  >[];
}

/** Returns the first page of each stand-in. */
export function firstPages(templates: readonly SandboxTemplate[]): StandInPage[] {
  return templates.map(({ id, name, pageCount, fields }) => ({
    id,
    name,
    pageCount,
    fields: fields.filter(({ page }) => page === 1),
  }));
}
