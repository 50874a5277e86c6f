// The checks of names and patterns, for code that calls them itself. The builder has its own, with better words.

export const NAME_REGEX = /^[a-z0-9]+(-[a-z0-9]+)*$/;

export const RESERVED_NAMES: ReadonlySet<string> = /* @__PURE__ */ new Set([
  'system',
  'browser',
  'opentabs',
  'extension',
  'config',
  'plugin',
  'tool',
  'mcp',
]);

/** What is wrong with a plugin's name, or null. */
export function validatePluginName(name: string): string | null {
  if (!NAME_REGEX.test(name)) return `"${name}" has other characters than a-z, 0-9 and single dashes`;
  return RESERVED_NAMES.has(name) ? `"${name}" is a reserved name` : null;
}

/** What is wrong with a match pattern, or null. */
export function validateUrlPattern(pattern: string): string | null {
  const parts = /^(\*|https?):\/\/(\*|(?:\*\.)?[^/*:]+)(?::(?:\d+|\*))?\/.*$/.exec(pattern);
  if (parts === null) return `"${pattern}" is not a match pattern such as *://*.example.com/*`;
  const [, , host] = parts;
  return host === '*' || /^\*\.[^.]+$/.test(host ?? '') ? `"${pattern}" matches too many sites` : null;
}

/** Icons have no meaning here: any name is taken. */
export const LUCIDE_ICON_NAMES: ReadonlySet<string> = /* @__PURE__ */ new Set(['wrench']);
