// Waiting for what comes, and measuring what was promised, on a machine that does other things beside it.
/** How long something may take that is to come at all. It ends what hangs. */
export const patienceMs = 60_000;

/** Waits until something is so. */
export async function until(done: () => Promise<boolean>, what: string): Promise<void> {
  const limit = performance.now() + patienceMs;
  while (!(await done())) {
    if (performance.now() > limit) throw new Error(what);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

/**
 * Measures something until it is as quick as promised, five times at the most, and returns the quickest, in milliseconds:
 * other work of the machine makes one try slow, a slow product all of them.
 */
export async function quickest(promised: number, measure: (n: number) => Promise<number>): Promise<number> {
  const took: number[] = [];
  while (took.length < 5 && !took.some((ms) => ms < promised)) took.push(await measure(took.length));
  if (took.length > 1) console.log(`promised ${promised} ms, took ${took.map(Math.round).join(', ')} ms`);
  return Math.min(...took);
}
