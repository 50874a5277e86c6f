// Type guards for messages inside the extension: between worker and bridge, and between worlds.
import { isArray, isFiniteNumber, keysOf } from './primordials.ts';

export type Guard<T> = (value: unknown) => value is T;
/** The type of the values that a guard accepts. */
export type Guarded<G> = G extends Guard<infer T> ? T : never;

export const isText: Guard<string> = (value): value is string => typeof value === 'string';
export const isFlag: Guard<boolean> = (value): value is boolean => typeof value === 'boolean';
export const isNumber: Guard<number> = (value): value is number => isFiniteNumber(value);
export const isAnything: Guard<unknown> = (_value): _value is unknown => true;

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !isArray(value);
}

export function exactly<const T extends string>(...allowed: readonly T[]): Guard<T> {
  return (value): value is T => {
    for (let i = 0; i < allowed.length; i++) if (allowed[i] === value) return true;
    return false;
  };
}

export function optional<T>(guard: Guard<T>): Guard<T | undefined> {
  return (value): value is T | undefined => value === undefined || guard(value);
}

/** Accepts null and undefined, too: Go omits an empty field, or encodes it as null. */
export function maybe<T>(guard: Guard<T>): Guard<T | null | undefined> {
  return (value): value is T | null | undefined => value === undefined || value === null || guard(value);
}

export function listOf<T>(guard: Guard<T>): Guard<T[]> {
  return (value): value is T[] => {
    if (!isArray(value)) return false;
    for (let i = 0; i < value.length; i++) if (!guard(value[i])) return false;
    return true;
  };
}

export function either<const Guards extends readonly Guard<unknown>[]>(
  ...guards: Guards
): Guard<Guarded<Guards[number]>> {
  return (value): value is Guarded<Guards[number]> => {
    for (let i = 0; i < guards.length; i++) if (guards[i]?.(value)) return true;
    return false;
  };
}

/** Guards an object whose values all pass the guard, whatever their names. */
export function recordOf<T>(guard: Guard<T>): Guard<Record<string, T>> {
  return (value): value is Record<string, T> => {
    if (!isRecord(value)) return false;
    const names = keysOf(value);
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      if (name !== undefined && !guard(value[name])) return false;
    }
    return true;
  };
}

/** The names of the fields whose guard accepts undefined. */
type Lacking<Fields> = {
  [Key in keyof Fields]: unknown extends Guarded<Fields[Key]>
    ? never
    : undefined extends Guarded<Fields[Key]>
      ? Key
      : never;
}[keyof Fields];
type Shape<Fields> = { [Key in Exclude<keyof Fields, Lacking<Fields>>]: Guarded<Fields[Key]> } & {
  [Key in Lacking<Fields>]?: Guarded<Fields[Key]>;
};

/** Guards an object that has at least these fields. */
export function shape<Fields extends Record<string, Guard<unknown>>>(fields: Fields): Guard<Shape<Fields>> {
  const names = keysOf(fields);
  return (value): value is Shape<Fields> => {
    if (!isRecord(value)) return false;
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      if (name === undefined) continue;
      const guard = fields[name];
      if (guard === undefined || !guard(value[name])) return false;
    }
    return true;
  };
}
