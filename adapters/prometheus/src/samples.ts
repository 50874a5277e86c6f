// Samples as the server sends them: [seconds, "value"], the value as text because NaN and +Inf are values too.

import { asNumber, asText, itemsIn, objectAt } from '@tabrelay/plugin-sdk/json';

export interface Sample {
  time: number;
  value: string;
}

export function sample(pair: unknown): Sample {
  const [time, value] = itemsIn(pair);
  return { time: asNumber(time), value: asText(value) };
}

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
export const labels = (value: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(objectAt(value)).map(([name, label]) => [name, asText(label)]));

/** JSON Schema of a set of labels. */
export const labelsOutput = { type: 'object', additionalProperties: { type: 'string' } } as const;

/** JSON Schema of the warnings of a query. */
export const warningsOutput = {
  type: 'array',
  items: { type: 'string' },
  description: 'What the server warns of, such as incomplete data.',
} as const;
