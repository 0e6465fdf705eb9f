import { isRecord } from '../kernel/json.ts';
import { DOCUMENT } from './api-document.ts';
import { type Form, ValueForms } from './forms.ts';
import type { Fact, FactTally } from './tally.ts';

/** A property name that is the service's own rather than an ID or an address used as a key. */
const STORABLE_KEY = /^(?!(?:env|tmpl|signer|org|usr|user|key|evt|dlv)_)[A-Za-z][A-Za-z_]{0,39}$/;
/** Stands for all other keys. */
const OTHER_KEY = '*';
/** The number of items compared in a long list, different ones each time. Comparing all items of a full page would take too long. */
const MAX_ITEMS = 20;

/**
 * Objects that are treated as another one. A list item is an ordinary envelope, except that the document doesn't show which
 * properties it has.
 */
const SAME_OBJECT: Readonly<Record<string, string>> = { EnvelopeListItem: 'Envelope' };

type Json = Readonly<Record<string, unknown>>;

/** A documented property, and the facts about it by the form of its value. */
interface Property {
  name: string;
  forms: ValueForms;
  facts: Map<Form, Fact>;
  /** The documented object in its value. */
  object: ObjectShapes | undefined;
}

/** An object of the API document in the responses of one operation. */
export class ObjectShapes {
  readonly #place: string;
  readonly #name: string;
  readonly #operation: string;
  readonly #tally: FactTally;
  readonly #properties: readonly Property[];
  readonly #names: ReadonlySet<string>;
  readonly #whole: Fact | undefined;

  constructor(name: string, operation: string, tally: FactTally) {
    this.#name = name;
    this.#place = SAME_OBJECT[name] ?? name;
    this.#operation = operation;
    this.#tally = tally;
    this.#properties = Object.entries(DOCUMENT.objects[name] ?? {}).map(([property, value]) => ({
      name: property,
      forms: new ValueForms(value),
      facts: new Map(),
      object: value.of === undefined ? undefined : new ObjectShapes(value.of, operation, tally),
    }));
    this.#whole = tally.fact(name, 'object', operation);
    this.#names = new Set(this.#properties.map((property) => property.name));
  }

  /** Notes an object and the documented objects inside it. */
  see(value: Json): void {
    this.#tally.count(this.#whole);
    for (const property of this.#properties) {
      const form = property.forms.formOf(value[property.name]);
      this.#tally.count(property.facts.get(form) ?? this.#addFact(property, form));
      if (property.object !== undefined) property.object.#seeNested(value[property.name]);
    }
    for (const key in value) {
      if (this.#names.has(key)) continue;
      const name = STORABLE_KEY.test(key) ? key : OTHER_KEY;
      this.#tally.note(`${this.#place}.${name}`, ANYTHING.formOf(value[key]), this.#operation);
    }
  }

  #addFact({ name, forms, facts }: Property, form: Form): Fact | undefined {
    if (form === 'missing' && forms.value.type === 'never') return undefined;
    // Which optional properties an item lacks is an open point of the list only.
    const owner = form === 'missing' ? this.#name : this.#place;
    const fact = this.#tally.fact(`${owner}.${name}`, form, this.#operation);
    if (fact !== undefined) facts.set(form, fact);
    return fact;
  }

  #seeNested(value: unknown): void {
    if (!Array.isArray(value)) {
      if (isRecord(value)) this.see(value);
      return;
    }
    const { length } = value;
    const count = Math.min(length, MAX_ITEMS);
    const first = length > MAX_ITEMS ? ((this.#tally.responseNumber - 1) * MAX_ITEMS) % length : 0;
    for (let index = 0; index < count; index++) {
      const item: unknown = value[(first + index) % length];
      if (isRecord(item)) this.see(item);
      else this.#tally.note(`${this.#place}[]`, ANYTHING.formOf(item), this.#operation);
    }
  }
}

/** Determines only the type, for values that the document doesn't mention. */
const ANYTHING = new ValueForms({ type: 'string' });
