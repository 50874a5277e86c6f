// Writes JSON Schema, a line for each field: `import * as s from '@tabrelay/plugin-sdk/schema'`. What is required
// follows from the fields. Schemas are read when a plugin is built, and nothing of this reaches the page.

import type { JsonSchema, ObjectSchema } from './schema.ts';

export const mayMiss: unique symbol = Symbol('may be missing'); // in no JSON; exported for declarations that name it

/** Fields by name, each with its schema. */
type Fields = Readonly<Record<string, JsonSchema>>;

type Typed<Type> = { readonly type: Type };
export type MayMiss = { readonly [mayMiss]: true };
type Named<F, Left> = { [K in keyof F]: F[K] extends Left ? never : K }[keyof F];

/** Further keywords of JSON Schema, with or without a description in front. */
type Details<More> = [more: More] | [description: string, more: More];

interface Scalar<Type> {
  (description?: string): Typed<Type>;
  <const More extends JsonSchema>(...details: Details<More>): Typed<Type> & More;
}

const detailed = <S extends JsonSchema>(schema: S, first?: string | JsonSchema, more?: JsonSchema): S =>
  typeof first === 'string' ? { ...schema, ...more, description: first } : { ...schema, ...first };

const scalar =
  <const Type extends string>(type: Type): Scalar<Type> =>
  (first?: string | JsonSchema, more?: JsonSchema) =>
    detailed({ type }, first, more);

/**
 * A text: `s.string()`, `s.string('One line.')`, `s.string({ minLength: 1 })` or `s.string('One line.', { minLength:
 * 1 })`.
 */
export const string: Scalar<'string'> = /* @__PURE__ */ scalar('string');
export const integer: Scalar<'integer'> = /* @__PURE__ */ scalar('integer');
export const number: Scalar<'number'> = /* @__PURE__ */ scalar('number');
export const boolean: Scalar<'boolean'> = /* @__PURE__ */ scalar('boolean');

type Choice<One> = Typed<'string'> & { readonly enum: readonly One[] };

/** One of some texts. */
export function choice<const One extends string>(values: readonly One[], description?: string): Choice<One>;
export function choice<const One extends string, const More extends JsonSchema>(
  values: readonly One[],
  ...details: Details<More>
): Choice<One> & More;
export function choice(values: readonly string[], first?: string | JsonSchema, more?: JsonSchema) {
  return detailed({ type: 'string', enum: values }, first, more);
}

type List<Item> = Typed<'array'> & { readonly items: Item };

/** A list. */
export function array<const Item extends JsonSchema>(items: Item, description?: string): List<Item>;
export function array<const Item extends JsonSchema, const More extends JsonSchema>(
  items: Item,
  ...details: Details<More>
): List<Item> & More;
export function array(items: JsonSchema, first?: string | JsonSchema, more?: JsonSchema) {
  return detailed({ type: 'array', items }, first, more);
}

/** A field that may be missing. */
export const optional = <const S extends JsonSchema>(schema: S): S & MayMiss => ({
  ...schema,
  [mayMiss]: true as const,
});

type ObjectOf<F, Left> = Typed<'object'> & {
  readonly properties: F;
  readonly required: readonly Named<F, Left>[];
};

/** An object. Its fields are all there, but for those that are `optional`. */
export function object<const F extends Fields>(fields: F, description?: string): ObjectOf<F, MayMiss>;
export function object(fields: Fields, description?: string): ObjectSchema {
  const about = description === undefined ? {} : { description };
  return { type: 'object', properties: fields, ...required(fields, isOptional), ...about };
}

/** The arguments of a tool: these and no others. Those that are `optional` or have a default may be left out. */
export function parameters<const F extends Fields>(
  fields: F,
): ObjectOf<F, MayMiss | { readonly default: unknown }>;
export function parameters(fields: Fields): ObjectSchema {
  const mayBeLeftOut = (field: JsonSchema) => isOptional(field) || 'default' in field;
  return {
    type: 'object',
    properties: fields,
    ...required(fields, mayBeLeftOut),
    additionalProperties: false,
  };
}

const isOptional = (field: JsonSchema): boolean => mayMiss in field;

/** Nothing in place of an empty list, which older dialects of JSON Schema forbid. */
function required(fields: Fields, mayBeLeftOut: (field: JsonSchema) => boolean): { required?: string[] } {
  const names = Object.entries(fields).flatMap(([name, field]) => (mayBeLeftOut(field) ? [] : [name]));
  return names.length === 0 ? {} : { required: names };
}
