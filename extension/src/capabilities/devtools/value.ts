// What code gave, as data: this function is handed to Chrome's debugger, or to a user script, as text, and runs in the
// page. So it uses nothing from outside of itself, and of lists only places and lengths: the page may have replaced
// their methods.

/** Describes this; cycles, getters that throw, and what is no data are told as words, as page code of ours does. */
export function describe(this: unknown, most: { parts: number; characters: number; depth: number }): unknown {
  let { parts, characters } = most;
  let truncated = false;
  const open: unknown[] = []; // that are being described: one of them again is a cycle
  const text = (words: string): string => {
    const kept = words.length > characters ? `${words.slice(0, characters)}…` : words;
    truncated ||= kept !== words;
    characters = Math.max(0, characters - kept.length);
    return kept;
  };
  const attempt = (read: () => unknown): unknown => {
    try {
      return read();
    } catch (thrown) {
      try {
        return text(`[threw ${String(thrown)}]`);
      } catch {
        return '[threw]';
      }
    }
  };
  const members = (value: object, level: number): unknown => {
    const told: Record<string, unknown> = { __proto__: null };
    for (const name of Object.keys(value)) {
      if (parts-- <= 0 || characters <= 0) {
        truncated = true;
        break;
      }
      characters -= name.length;
      const part = attempt(() => take(Reflect.get(value, name), level + 1));
      Object.defineProperty(told, name, {
        value: part,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return told;
  };
  const list = (all: ArrayLike<unknown>, level: number): unknown[] => {
    const told: unknown[] = [];
    for (let i = 0; i < all.length; i++) {
      if (parts-- <= 0) {
        truncated = true;
        break;
      }
      told[i] = attempt(() => take(all[i], level + 1));
    }
    return told;
  };
  const inside = (value: object, level: number): unknown => {
    if (value === window) return '[window]';
    if (value instanceof Error) return text(`${value.name}: ${value.message}`);
    if (value instanceof Date) return value.toISOString();
    const bare = value instanceof Element ? value.cloneNode(false) : undefined;
    if (bare instanceof Element) return text(bare.outerHTML.slice(0, 200));
    if (value instanceof Node) return value.nodeName;
    if (value instanceof Map || value instanceof Set) return list(Array.from(value), level);
    if (Array.isArray(value)) return list(value, level);
    if (ArrayBuffer.isView(value) && 'length' in value) return list(Array.from(Object.values(value)), level);
    return members(value, level);
  };
  const take = (value: unknown, level: number): unknown => {
    if (typeof value === 'string') return text(value);
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
    if (typeof value === 'bigint') return text(`${value}n`);
    if (typeof value === 'symbol') return text(String(value));
    if (typeof value === 'function') return text(`[function ${value.name}]`);
    if (typeof value !== 'object' || value === null) return value ?? null;
    for (let i = 0; i < open.length; i++) if (open[i] === value) return '[circular]';
    if (level >= most.depth) {
      truncated = true;
      return '…';
    }
    open[open.length] = value;
    try {
      return inside(value, level);
    } finally {
      open.length -= 1;
    }
  };
  const value = attempt(() => take(this, 0));
  return { value, truncated };
}
