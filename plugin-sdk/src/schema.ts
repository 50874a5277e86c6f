// Types only: what a schema says about the values it accepts.

/**
 * A schema object of a library that speaks Standard Schema, such as Zod 4.
 * Its JSON Schema is read when the plugin is built; the page never sees it.
 */
export interface StandardSchema<In = unknown, Out = In> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: In; readonly output: Out } | undefined;
    readonly validate: (value: unknown) => Checked<Out> | Promise<Checked<Out>>;
  };
}

/** What a Standard Schema answers about a value. */
export type Checked<Out> =
  | { readonly value: Out; readonly issues?: undefined }
  | { readonly issues: ReadonlyArray<Issue> };

/** One thing wrong with a value. */
export interface Issue {
  readonly message: string;
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
}

/** A JSON Schema literal. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** A JSON Schema of an object: what a tool takes. */
export interface ObjectSchema extends JsonSchema {
  readonly type: 'object';
}

/** What a tool can declare as its input. */
export type InputSchema = StandardSchema | ObjectSchema;

/** What a tool can declare as its output. */
export type OutputSchema = StandardSchema | JsonSchema;

/** The arguments a handler gets: those the schema accepts, with its defaults filled in. */
export type Arguments<S> = S extends StandardSchema<unknown, infer Out> ? Out : Value<S>;

/** What a handler may return. A field that may be missing may also be undefined: JSON leaves it out. */
export type Answer<S> = S extends StandardSchema<infer In, unknown> ? Accepted<In> : Accepted<Value<S>>;

type Accepted<T> = T extends readonly (infer Item)[]
  ? readonly Accepted<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: object extends Pick<T, K> ? Accepted<T[K]> | undefined : Accepted<T[K]> }
    : T;

/** The values a JSON Schema literal accepts, as far as its common keywords say; else unknown. */
export type Value<S> = S extends { readonly const: infer Only }
  ? Only
  : S extends { readonly enum: readonly (infer One)[] }
    ? One
    : S extends { readonly anyOf: readonly (infer One)[] }
      ? Value<One>
      : S extends { readonly oneOf: readonly (infer One)[] }
        ? Value<One>
        : S extends { readonly type: readonly (infer One)[] }
          ? Typed<One, S>
          : S extends { readonly type: infer One }
            ? Typed<One, S>
            : unknown;

// The first parameter is spread over a list of types: ["string", "null"] gives string | null.
type Typed<Type, S> = Type extends 'string'
  ? string
  : Type extends 'number' | 'integer'
    ? number
    : Type extends 'boolean'
      ? boolean
      : Type extends 'null'
        ? null
        : Type extends 'array'
          ? Items<S>
          : Type extends 'object'
            ? Fields<S>
            : unknown;

type Items<S> = S extends { readonly items: infer Item } ? Value<Item>[] : unknown[];

type Fields<S> = S extends { readonly properties: infer P }
  ? Flat<
      { -readonly [K in keyof P as K extends Present<S, P> ? K : never]: Value<P[K]> } & {
        -readonly [K in keyof P as K extends Present<S, P> ? never : K]?: Value<P[K]>;
      }
    >
  : Record<string, unknown>;

type Present<S, P> =
  | Required<S>
  | { [K in keyof P]: P[K] extends { readonly default: unknown } ? K : never }[keyof P];

type Required<S> = S extends { readonly required: readonly (infer Name)[] } ? Name : never;

type Flat<T> = { [K in keyof T]: T[K] };
