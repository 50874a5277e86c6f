(tools, trees) => {
  const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
  const fill = (tree, given) => {
    const value = given === undefined && tree.v !== undefined ? structuredClone(tree.v) : given;
    if (!tree.f || !isObject(value)) return value;
    const filled = { ...value };
    for (const name of Object.keys(tree.f)) {
      const field = fill(tree.f[name], filled[name]);
      if (field !== undefined) filled[name] = field;
    }
    return filled;
  };
  for (const tool of tools) {
    const tree = Object.hasOwn(trees, tool.name) && trees[tool.name];
    if (!tree) continue;
    const handle = tool.handle;
    tool.handle = function (params, ctx) {
      return handle.call(this, fill(tree, params), ctx);
    };
  }
};
