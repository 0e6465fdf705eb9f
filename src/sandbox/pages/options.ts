import type { ObjectWriter } from '../model.ts';
import type { Engine } from '../service/engine.ts';
import type { KeyDesk } from '../service/key-actions.ts';
import type { TemplateDesk } from '../service/template-desk.ts';

/** What the pages need of the service. */
export interface PagesOptions extends KeyDesk {
  engine: Engine;
  desk: TemplateDesk;
  objects: ObjectWriter;
  /** The address bound: pages are shown under it and loopback only. */
  host: string;
  origin: () => string;
}
