import type { ApiDocument } from '../src/compatibility/api-document.ts';

export function documentOf(yaml: string): ApiDocument;
