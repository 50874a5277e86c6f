/** The fields that are not undefined. */
export function stripUndefined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept: { [K in keyof T]?: Exclude<T[K], undefined> } = {};
  for (const key in fields) {
    const value = fields[key];
    if (present(value)) kept[key] = value;
  }
  return kept;
}

const present = <T>(value: T): value is Exclude<T, undefined> => value !== undefined;

/** One value of a query or form field; a list gives the field several times. */
export type FieldValue = string | number | boolean | null | undefined;

/** Fields of a query or of a form. Those that are undefined or null are left out. */
export type FormFields = Readonly<Record<string, FieldValue | readonly FieldValue[]>>;

/** `a=1&b=2`, percent-encoded, without a question mark in front. */
export const buildQueryString = (fields: FormFields): string => urlEncoded(fields).toString();

export function urlEncoded(fields: FormFields): URLSearchParams {
  const encoded = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    for (const one of isList(value) ? value : [value]) {
      if (one !== undefined && one !== null) encoded.append(name, String(one));
    }
  }
  return encoded;
}

const isList = (value: FieldValue | readonly FieldValue[]): value is readonly FieldValue[] =>
  Array.isArray(value);
