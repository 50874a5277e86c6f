// That SDK's log takes any number of values after the message.

import type { Log } from '../scope.ts';
import * as scope from '../scope.ts';

const line =
  (write: Log['info']) =>
  (message: string, ...values: unknown[]): void =>
    write(message, values.length > 1 ? values : values[0]);

export const log = {
  debug: line(scope.log.debug),
  info: line(scope.log.info),
  warn: line(scope.log.warn),
  error: line(scope.log.error),
} as const;
