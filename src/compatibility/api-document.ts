import document from './document.json' with { type: 'json' };

export interface DocumentedValue {
  /** A form, or `never`. */
  type: string;
  isRequired?: boolean;
  isNullable?: boolean;
  isTimestamp?: boolean;
  pattern?: string;
  words?: readonly string[];
  /** Whether the document's list of words is incomplete. */
  isOpen?: boolean;
  /** The name of the object, or of the objects in the array. */
  of?: string;
}

export interface Operation {
  id: string;
  method: string;
  path: string;
  /** The status of a success. Undefined if the document shows neither status nor body. */
  status?: number | undefined;
  reply?: string | undefined;
}

/** The contents of contract/openapi.yaml about responses and events. */
export interface ApiDocument {
  operations: readonly Operation[];
  /** The properties of each object. */
  objects: Readonly<Record<string, Readonly<Record<string, DocumentedValue>>>>;
  /** HTTP statuses by error code. */
  errorStatuses: Readonly<Record<string, number>>;
  rateHeaders: readonly string[];
  events: readonly string[];
  signature: { header: string; pattern: string };
  /** The fields in the body of a create. */
  createFields: readonly string[];
}

/** Generated from contract/openapi.yaml: `npm run contract:update`. */
export const DOCUMENT: ApiDocument = document;
