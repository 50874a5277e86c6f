// Samples as the server sends them: [seconds, "value"], the value as text because NaN and +Inf are values too.

import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';

export interface Sample {
  time: number;
  value: string;
}

export function sample(pair: JsonReader): Sample {
  const [time, value] = pair.list();
  if (time === undefined || value === undefined)
    return pair.fail('is not a pair of time and value');
  // The value of a native histogram is an object: count, sum and buckets.
  const text = typeof value.value === 'string' ? value.value : JSON.stringify(value.object());
  return { time: time.number(), value: text };
}

/** The samples of a series over time, or the one at a moment; those of native histograms have a name of their own. */
export const samples = (series: JsonReader): Sample[] => {
  const over = series.maybe('values') ?? series.maybe('histograms');
  if (over !== undefined) return over.list().map(sample);
  return [sample(series.maybe('histogram') ?? series.at('value'))];
};

/** A number where JSON has one. */
export const numeric = (value: string): number | string => {
  const parsed = Number(value);
  return Number.isFinite(parsed) ? parsed : value;
};

/** Smallest, largest, mean and last of the samples that are numbers; empty when none is. */
export function summary(samples: readonly Sample[]) {
  const numbers = samples.map(({ value }) => Number(value)).filter(Number.isFinite);
  const last = numbers.at(-1);
  if (last === undefined) return {};
  const sum = numbers.reduce((total, value) => total + value, 0);
  return {
    min: numbers.reduce((least, value) => Math.min(least, value)),
    max: numbers.reduce((most, value) => Math.max(most, value)),
    average: sum / numbers.length,
    last,
  };
}

/** The labels of a series, a target or an alert. */
export const labels = (from: JsonReader): Record<string, string> =>
  Object.fromEntries(from.entries().map(([name, label]) => [name, label.string()]));

/** JSON Schema of a set of labels. */
export const labelsOutput = { type: 'object', additionalProperties: s.string() } as const;

/** JSON Schema of the warnings of a query. */
export const warningsOutput = s.array(
  s.string(),
  'What the server warns of, such as incomplete data.',
);
