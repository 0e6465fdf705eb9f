import type { BuiltInTemplate } from './design.ts';
import { employment } from './employment.ts';
import { intake } from './intake.ts';
import { lease } from './lease.ts';
import { nda } from './nda.ts';

/** The templates every sandbox starts with. */
export const BUILT_IN: readonly BuiltInTemplate[] = [nda, lease, employment, intake];
