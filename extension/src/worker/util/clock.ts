/** Milliseconds of a clock that only goes forward. The system's is set, by its user and by the network. */
export const elapsedMs = (): number => Math.round(performance.now());
