// Waiting for what comes, on a machine that does other things beside it.
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
