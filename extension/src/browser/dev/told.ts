// What the worker says to a document along with a call: no agent can, because the tools' schemas have no such argument.

/** The part of a call that is for this document. */
export function told(args: object): Record<string, unknown> {
  const said: unknown = Reflect.get(args, '_');
  return typeof said === 'object' && said !== null ? { ...said } : {};
}
