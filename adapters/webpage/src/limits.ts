// How long lists are that an agent did not ask to be longer.

import { pagingInput } from '@tabrelay/plugin-sdk/paging';

/** JSON Schema of how many entries to list, where 50 are too many or too few. */
export const limitInput = (standard: number) =>
  ({ ...pagingInput.limit, default: standard }) as const;
