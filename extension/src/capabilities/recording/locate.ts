// Where a page has a token that its requests carry. The function runs in the page, so it uses nothing from here.

/** One place that has a value. */
export interface Place {
  in: 'meta' | 'field' | 'script' | 'cookie' | 'local' | 'session' | 'global';
  name: string; // of the meta tag, field, cookie or storage entry; the text before it in a script; the path of a global
  path?: string[]; // inside the entry's JSON
}

/** The places in which a document has each of these values; at most a few of each. */
export function locate(values: readonly string[]): Place[][] {
  const most = 4;
  const plain = (name: string) => name.length > 0 && name.length <= 100;

  // The way to a value inside of JSON, as text or as it is.
  const within = (whole: unknown, value: string, depth: number): string[] | undefined => {
    if (whole === value) return [];
    if (depth === 0 || typeof whole !== 'object' || whole === null) return undefined;
    for (const [key, part] of Object.entries(whole).slice(0, 200)) {
      const rest = within(part, value, depth - 1);
      if (rest !== undefined) return [key, ...rest];
    }
    return undefined;
  };
  const stored = (area: Storage, kind: 'local' | 'session', value: string): Place[] => {
    const found: Place[] = [];
    for (let i = 0; i < Math.min(area.length, 200); i++) {
      const name = area.key(i) ?? '';
      const text = area.getItem(name) ?? '';
      if (text === value) found.push({ in: kind, name });
      else if (text.includes(value)) {
        try {
          const path = within(JSON.parse(text), value, 4);
          if (path !== undefined) found.push({ in: kind, name, path });
        } catch {
          // It is no JSON.
        }
      }
    }
    return found;
  };
  const decoded = (text: string) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  // The shortest text before the value, up to its quotation mark, that no script has anywhere sooner.
  const inScripts = (value: string): Place | undefined => {
    const scripts = Array.from(
      document.querySelectorAll('script:not([src])'),
      ({ textContent }) => textContent ?? '',
    );
    const whole = scripts.join('\n');
    const at = whole.indexOf(value);
    if (
      at < 1 ||
      !['"', "'", '`'].includes(whole.charAt(at - 1)) ||
      whole.charAt(at - 1) !== whole.charAt(at + value.length)
    )
      return undefined;
    for (let length = 8; length <= 100 && length <= at; length++) {
      const before = whole.slice(at - length, at);
      if (whole.indexOf(before) === at - length) return { in: 'script', name: before };
    }
    return undefined;
  };
  const inGlobals = (value: string): Place[] => {
    const names = Object.getOwnPropertyNames(globalThis).slice(0, 5000);
    for (const name of names) {
      const about = Object.getOwnPropertyDescriptor(globalThis, name);
      if (about === undefined || !('value' in about) || /^[0-9]/.test(name)) continue;
      const whole: unknown = about.value;
      if (whole instanceof Node || whole instanceof Window || whole instanceof Storage) continue;
      try {
        const path = within(whole, value, 3);
        if (path?.every((step) => /^[\w$]+$/.test(step)))
          return [{ in: 'global', name: [name, ...path].join('.') }];
      } catch {
        // A getter of the page threw.
      }
    }
    return [];
  };
  const places = (value: string): Place[] => {
    const found: Place[] = [];
    for (const meta of document.querySelectorAll('meta[content]'))
      if (meta.getAttribute('content') === value)
        found.push({ in: 'meta', name: meta.getAttribute('name') ?? meta.getAttribute('property') ?? '' });
    for (const field of document.querySelectorAll('input[type=hidden]'))
      if (field.getAttribute('value') === value)
        found.push({ in: 'field', name: field.getAttribute('name') ?? '' });
    for (const part of document.cookie.split('; ')) {
      const at = part.indexOf('=');
      if (at > 0 && decoded(part.slice(at + 1)) === value)
        found.push({ in: 'cookie', name: part.slice(0, at) });
    }
    const script = inScripts(value);
    if (script !== undefined) found.push(script);
    try {
      found.push(...stored(localStorage, 'local', value), ...stored(sessionStorage, 'session', value));
    } catch {
      // The page may not have any.
    }
    if (found.length === 0) found.push(...inGlobals(value));
    return found.filter(({ name }) => plain(name)).slice(0, most);
  };
  return values.map((value) => (value.length < 6 ? [] : places(value)));
}
