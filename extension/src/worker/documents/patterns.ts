/** Patterns as Chrome takes them: one for any scheme may not name a port, so it becomes two. */
export const patternsForChrome = (patterns: readonly string[]): string[] =>
  patterns.flatMap((pattern) => {
    const [, rest] = /^\*(:\/\/[^/]+:\d+\/.*)$/.exec(pattern) ?? [];
    return rest === undefined ? [pattern] : [`http${rest}`, `https${rest}`];
  });
