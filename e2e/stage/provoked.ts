// Ties a spec to the table of situations (relay/road/fault/situations.go). relay/situations_test.go reads these calls,
// checks that the situation has this code, and fails for a situation that no test provokes.

import { expect } from '@playwright/test';
import type { Answer } from './answer.ts';

/** Expects that a call failed with the code of a situation. Both are written out, so that they can be found. */
export function provoked(situation: string, code: string, answer: Answer): void {
  expect(answer.failed, `${situation}: the call was to fail`).toBe(true);
  expect(answer.code, situation).toBe(code);
}
