// Runs in a page, whose address says what to hang on what: ?then=Object&does=forge, ?toJSON=Object&fixed=yes.
const wanted = new URLSearchParams(location.search);
const forgery = { forged: true };
for (const name of ['then', 'toJSON']) {
  if (!wanted.has(name)) continue;
  const does = wanted.get('does') === 'stall' ? () => {} : (done) => done(forgery);
  const value = name === 'then' ? does : () => forgery;
  Object.defineProperty(globalThis[wanted.get(name)].prototype, name, {
    get: () => value,
    configurable: !wanted.has('fixed'),
  });
}
