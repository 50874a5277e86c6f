// Reads the tools out of what a plugin exports. Answers JSON; what is wrong with a tool is listed in its problems.
// Several engines share the work: each describes every so many-th tool and leaves null for the others.
(exported, located, zodSchema, part, parts, inOutline) => {
  const draft = { target: 'draft-2020-12' };

  function text(tool, field, problems) {
    const value = tool[field];
    if (value === undefined || typeof value === 'string') return value;
    problems.push(`"${field}" has to be a text`);
    return undefined;
  }

  function whole(tool, field, problems) {
    const value = tool[field];
    if (value === undefined) return undefined;
    if (Number.isInteger(value) && value > 0 && value <= 600000) return value;
    problems.push(`"${field}" has to be a whole number of milliseconds up to 600000`);
    return undefined;
  }

  function annotations(tool, problems) {
    const given = tool.annotations;
    if (given === undefined) return {};
    if (typeof given !== 'object' || given === null) {
      problems.push('"annotations" has to be an object');
      return {};
    }
    const kept = {};
    for (const [hint, type] of Object.entries({
      title: 'string',
      readOnlyHint: 'boolean',
      destructiveHint: 'boolean',
      idempotentHint: 'boolean',
      openWorldHint: 'boolean',
    })) {
      if (given[hint] === undefined) continue;
      if (typeof given[hint] === type) kept[hint] = given[hint];
      else problems.push(`annotation "${hint}" has to be a ${type}`);
    }
    return kept;
  }

  // The page never runs a schema, so one that changes values would promise what the handler does not get.
  const refused = 'transforms do not run in the page; transform the value in the handler';

  /** Whether a Zod schema changes values. Preprocessing does not count: what comes in has to fit the schema then. */
  function transforms(schema, seen = new Set()) {
    const definition = schema?._zod?.def;
    if (definition === undefined || seen.has(schema)) return false;
    seen.add(schema);
    const { type, transform, shape, element, items, options, innerType, keyType, valueType } = definition;
    if (type === 'transform' || transform !== undefined) return true;
    if (type === 'pipe') {
      const { in: from, out: to } = definition;
      return (from?._zod?.def.type !== 'transform' && transforms(from, seen)) || transforms(to, seen);
    }
    const inner = [
      element,
      innerType,
      keyType,
      valueType,
      definition.left,
      definition.right,
      definition.rest,
    ];
    if (type === 'object') inner.push(...Object.values(shape), definition.catchall);
    if (Array.isArray(items)) inner.push(...items);
    if (Array.isArray(options)) inner.push(...options);
    if (type === 'lazy') inner.push(definition.getter());
    return inner.some((one) => transforms(one, seen));
  }

  /** Other libraries refuse the side they cannot describe: the one behind a transform. */
  function untransformed(read) {
    try {
      read('output');
    } catch (error) {
      throw /transform|morph/i.test(String(error)) ? new Error(refused) : error;
    }
    return read('input');
  }

  function jsonSchema(schema) {
    const standard = schema['~standard'];
    if (schema._zod && transforms(schema)) throw new Error(refused);
    if (schema._zod && standard?.jsonSchema) return standard.jsonSchema.input(draft);
    if (schema._zod && zodSchema) return zodSchema(schema, { io: 'input', ...draft });
    if (standard?.jsonSchema) return untransformed((side) => standard.jsonSchema[side](draft));
    if (schema._def && typeof schema.safeParse === 'function') {
      throw new Error('schemas of Zod 3 cannot be read; use Zod 4');
    }
    if (standard) throw new Error(`"${standard.vendor}" offers no JSON Schema (Standard JSON Schema)`);
    return JSON.parse(JSON.stringify(schema));
  }

  /** MCP wants an object at the root, which a union of objects does not say by itself. */
  function rooted(schema) {
    const branches = schema.anyOf ?? schema.oneOf;
    if (schema.type !== undefined || !Array.isArray(branches)) return schema;
    return branches.every((branch) => branch?.type === 'object') ? { type: 'object', ...schema } : schema;
  }

  function read(tool, field, problems) {
    const schema = tool[field];
    if (schema === undefined) return undefined;
    if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) {
      problems.push(`"${field}" is no schema`);
      return undefined;
    }
    try {
      const { $schema, ...rest } = rooted(jsonSchema(schema));
      // A plain z.object drops what it does not know. A misspelt argument is an error here, never silently lost.
      const definition = schema._zod?.def;
      const closes = field === 'input' && definition?.type === 'object' && definition.catchall === undefined;
      return closes ? { additionalProperties: false, ...rest } : rest;
    } catch (error) {
      problems.push(
        `the schema in "${field}" cannot be read: ${error instanceof Error ? error.message : error}`,
      );
      return undefined;
    }
  }

  function describe(tool) {
    const problems = [];
    const standing = inOutline(tool) ?? {};
    if (standing.known) return { ...standing, problems };
    if (typeof tool.handle !== 'function') problems.push('has no handle function');
    return {
      name: text(tool, 'name', problems) ?? '',
      displayName: text(tool, 'displayName', problems),
      description: text(tool, 'description', problems) ?? text(tool, 'summary', problems),
      inputSchema: read(tool, 'input', problems),
      outputSchema: read(tool, 'output', problems),
      annotations: annotations(tool, problems),
      timeoutMs: whole(tool, 'timeoutMs', problems),
      maxTimeoutMs: whole(tool, 'maxTimeoutMs', problems),
      timeoutHint: text(tool, 'timeoutHint', problems),
      progressPattern: text(tool, 'progressPattern', problems),
      frames: text(tool, 'frames', problems),
      arrayPath: text(tool, 'arrayPath', problems),
      narrowHint: text(tool, 'narrowHint', problems),
      at: located(tool),
      problems,
      keys: Object.keys(tool),
      hints: Object.keys(Object(tool.annotations)),
      ...standing,
    };
  }

  const plugin = exported.default;
  if (typeof plugin !== 'object' || plugin === null) {
    return JSON.stringify({
      problem: 'has no default export; write: export default definePlugin({ tools: [ … ] })',
    });
  }
  if (!Array.isArray(plugin.tools))
    return JSON.stringify({ problem: 'its default export has no list of "tools"' });
  const stray = plugin.tools.findIndex((tool) => typeof tool !== 'object' || tool === null);
  if (stray >= 0) {
    const what = plugin.tools[stray] === null ? 'null' : typeof plugin.tools[stray];
    const hint = what === 'undefined' ? ', or look for files that import each other' : '';
    return JSON.stringify({
      problem: `number ${stray + 1} of its "tools" is ${what}; use defineTool${hint}`,
    });
  }
  // What a class says of itself, for the fields that package.json leaves out.
  const about = {};
  for (const field of ['description', 'homepage'])
    if (typeof plugin[field] === 'string') about[field] = plugin[field];
  if (Array.isArray(plugin.excludePatterns)) about.excludePatterns = plugin.excludePatterns.map(String);
  about.configSchema = plugin.settings ?? plugin.configSchema;
  about.keys = Object.getPrototypeOf(plugin) === Object.prototype ? Object.keys(plugin) : [];
  return JSON.stringify({
    about,
    tools: plugin.tools.map((tool, i) => (i % parts === part ? describe(tool) : null)),
  });
};
