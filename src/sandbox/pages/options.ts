import type { ObjectWriter } from '../model.ts';
import type { ServiceParts } from '../service/base/parts.ts';
import type { KeyContext } from '../service/control/key-actions.ts';
import type { TemplateService } from '../service/control/template-service.ts';
import type { Engine } from '../service/engine/engine.ts';

/** The parts of the service that the pages use. */
export interface PagesOptions extends KeyContext, Pick<ServiceParts, 'origin'> {
  engine: Engine;
  templates: TemplateService;
  objects: Pick<ObjectWriter, 'get'>;
  /** The address the server listens on. Pages are available only at this address and on loopback. */
  host: string;
}
