// What a script finds: tools, browser, log, sleep and ToolError. It is called before the script runs, so that what it
// takes from the engine is the engine's own. `host` asks the relay.
(host, entries, objectNames, maxLine) => {
  const { stringify, parse } = JSON;
  const { create, freeze, keys, prototype } = Object;
  const hasOwn = Function.prototype.call.bind(prototype.hasOwnProperty);

  class ToolError extends Error {
    constructor(message, given) {
      super(message);
      const members = typeof given === 'string' ? { code: given } : given;
      Object.defineProperty(this, 'name', { value: 'ToolError', configurable: true });
      for (const name of keys(members ?? {})) {
        if (name !== 'message' && name !== '__proto__') this[name] = members[name];
      }
    }
  }

  const call = (tool) => (given) =>
    new Promise((resolve, reject) => {
      let args = given === undefined || given === null ? {} : given;
      const wrong = `${tool.name} takes an object of arguments`;
      if (typeof args !== 'object') {
        if (!tool.first || typeof args === 'function' || typeof args === 'symbol') throw new TypeError(wrong);
        args = { [tool.first]: args };
      }
      const text = stringify(args); // which may be anything, where there is a toJSON
      if (text?.[0] !== '{') throw new TypeError(wrong);
      host.call(
        tool.name,
        text,
        (text) => resolve(text === '' ? undefined : parse(text)),
        (text) => {
          const members = parse(text);
          reject(new ToolError(members.message, members));
        },
      );
    });

  // An object of what there is, whose other members fail with the names of what there is.
  const named = (what, members, known = keys(members).join(', ')) => {
    return new Proxy(freeze(members), {
      get(target, name) {
        if (typeof name !== 'string' || hasOwn(target, name)) return target[name];
        if (name === 'then' || name === 'toJSON') return undefined;
        const why = known.split(', ').includes(name)
          ? `The text of the script does not show that it uses ${what}.${name}: write it out`
          : `There is no ${what}.${name}. There are: ${known.slice(0, 600)}`;
        throw new ToolError(why, {
          code: 'UNKNOWN_TOOL',
          category: 'not_found',
          retryable: false,
          outcome: 'not_executed',
        });
      },
    });
  };

  const objects = create(null);
  for (const tool of entries) {
    objects[tool.object] ??= create(null);
    const object = objects[tool.object];
    if (tool.method in object) continue;
    Object.defineProperty(object, tool.method, { value: call(tool), enumerable: !tool.alias });
  }
  const shown = create(null); // what a script sees that asks for the names of all
  for (const name of keys(objects)) {
    const object = named(name === 'browser' ? name : `tools.${name}`, objects[name]);
    Object.defineProperty(shown, name, {
      value: object,
      enumerable: keys(objects[name]).length > 0,
    });
  }
  const browser = shown.browser ?? named('browser', create(null));

  const lineOf = (value) => {
    if (typeof value === 'string') return value;
    try {
      return stringify(value) ?? String(value);
    } catch {
      return String(value);
    }
  };

  // What was thrown, whatever it is: each of its members may throw in its turn. Only a ToolError is told as the failure
  // of a tool: words of a page may look like one. Without a prototype, no toJSON of the script's takes its place.
  const describe = (thrown) => {
    let failed = false;
    try {
      failed = thrown instanceof ToolError;
    } catch {}
    const ofTool = (name, type) => (failed ? member(name, type) : undefined);
    const member = (name, type) => {
      try {
        const value = thrown[name];
        return typeof value === type ? value : undefined;
      } catch {
        return undefined;
      }
    };
    let message = member('message', 'string');
    if (typeof thrown !== 'object' || thrown === null || message === undefined) {
      try {
        message = lineOf(thrown);
      } catch {
        message = 'something that cannot be shown';
      }
    } else {
      const name = member('name', 'string');
      if (name && name !== 'ToolError' && name !== 'Error') message = `${name}: ${message}`;
    }
    return stringify({
      __proto__: null,
      message: String(message).slice(0, maxLine),
      stack: member('stack', 'string')?.slice(0, 4000),
      line: ofTool('line', 'number'),
      column: ofTool('column', 'number'),
      tool: ofTool('tool', 'string'),
      code: ofTool('code', 'string'),
      category: ofTool('category', 'string'),
      retryable: ofTool('retryable', 'boolean'),
      retryAfterMs: ofTool('retryAfterMs', 'number'),
      outcome: ofTool('outcome', 'string'),
    });
  };

  const own = {
    tools: named('tools', shown, objectNames.join(', ')),
    browser,
    ToolError,
    log: (...values) => host.log(values.map(lineOf).join(' ')),
    sleep: (ms) => new Promise((resolve) => host.sleep(Number(ms), () => resolve())),
  };
  own.console = freeze({ log: own.log, info: own.log, warn: own.log, error: own.log });
  for (const name of keys(own)) {
    Object.defineProperty(globalThis, name, { value: own[name] });
  }
  return { describe, stringify: (value) => stringify(value) ?? '' };
};
