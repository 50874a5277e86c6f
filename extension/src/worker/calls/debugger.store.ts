// An edition from a store does not have Chrome's debugger.
import { Ended, type ToolRun } from './tool-runner.ts';

type Command = (method: string, params?: Record<string, unknown>) => Promise<Record<string, unknown>>;

export const hasDebugger = (): boolean => false;

export const needsDebugger = (what: string): Ended =>
  Ended.as('NEEDS_TRUSTED_INPUT', `${what} needs Chrome's debugger, which this extension does not have`, {
    category: 'validation',
    hint:
      'Ask the person: `tabrelay up --trusted-input` brings an extension that has it, which takes the place of the one ' +
      'from the store.',
  });

export async function detachLeftovers(): Promise<void> {}

export async function debugging<T>(
  _run: Pick<ToolRun, 'tabId' | 'signal'>,
  what: string,
  _work: (send: Command) => Promise<T>,
): Promise<T> {
  throw needsDebugger(what);
}
