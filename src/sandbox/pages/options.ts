import type { ObjectWriter } from '../model.ts';
import type { KeyContext } from '../service/control/key-actions.ts';
import type { TemplateService } from '../service/control/template-service.ts';
import type { Engine } from '../service/engine/engine.ts';

/** What the pages need of the service. */
export interface PagesOptions extends KeyContext {
  engine: Engine;
  templates: TemplateService;
  objects: Pick<ObjectWriter, 'get'>;
  /** The address bound: pages are shown under it and loopback only. */
  host: string;
  origin: () => string;
}
