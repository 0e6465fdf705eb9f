/** What the API document says about one value. */
export interface DocumentedValue {
  type: 'string' | 'integer' | 'boolean' | 'object' | 'array' | 'never';
  isRequired?: true;
  isNullable?: true;
  isTimestamp?: true;
  pattern?: string;
  words?: readonly string[];
  /** The list of words is not complete in the document. */
  isOpen?: true;
  /** The object it is, or that its items are. */
  of?: string;
}

/** The properties of an object of the API document. */
export type DocumentedObject = Readonly<Record<string, DocumentedValue>>;

export interface Operation {
  id: string;
  method: string;
  path: string;
  /** Of a success; undefined where the document shows neither status nor body. */
  status?: number;
  reply?: string;
}

/** What contract/openapi.yaml says about replies and events. */
export interface ApiDocument {
  operations: readonly Operation[];
  objects: Readonly<Record<string, DocumentedObject>>;
  /** By error code. */
  errorStatuses: Readonly<Record<string, number>>;
  rateHeaders: readonly string[];
  events: readonly string[];
  signature: { header: string; pattern: string };
  /** The fields of a create body. */
  createFields: readonly string[];
}
