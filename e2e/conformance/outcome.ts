// What a scenario of the conformance suite came to, and whether that is what is known of it.

export type Outcome = 'passed' | 'failed' | 'warned' | 'skipped';

export interface Known {
  readonly outcome: 'failed' | 'warned' | 'skipped';
  readonly why: string;
}

/** The worst of the checks decides. A scenario in which nothing was checked counts as skipped. */
export function outcomeOf(statuses: readonly string[]): Outcome {
  if (statuses.includes('FAILURE')) return 'failed';
  if (statuses.includes('WARNING')) return 'warned';
  return statuses.includes('SUCCESS') ? 'passed' : 'skipped';
}

/** Says everything that is not as it is known: a scenario that came to something else, also to something better. */
export function compare(
  found: ReadonlyMap<string, Outcome>,
  scenarios: number,
  known: Readonly<Record<string, Known>>,
): string[] {
  const complaints: string[] = [];
  if (found.size !== scenarios) {
    complaints.push(`${found.size} scenarios ran, baseline.json says ${scenarios}`);
  }
  for (const [scenario, outcome] of found) {
    const expected = known[scenario]?.outcome ?? 'passed';
    if (outcome === expected) continue;
    if (outcome === 'passed') complaints.push(`${scenario} passes; take it out of baseline.json`);
    else complaints.push(`${scenario}: ${outcome}, expected ${expected}`);
  }
  for (const scenario of Object.keys(known)) {
    if (!found.has(scenario)) complaints.push(`${scenario} is in baseline.json and did not run`);
  }
  return complaints;
}
