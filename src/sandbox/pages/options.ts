import type { ObjectWriter } from '../model.ts';
import type { KeyDesk } from '../service/control/key-actions.ts';
import type { TemplateDesk } from '../service/control/template-service.ts';
import type { Engine } from '../service/engine/engine.ts';

/** What the pages need of the service. */
export interface PagesOptions extends KeyDesk {
  engine: Engine;
  desk: TemplateDesk;
  objects: ObjectWriter;
  /** The address bound: pages are shown under it and loopback only. */
  host: string;
  origin: () => string;
}
