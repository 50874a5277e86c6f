// What needs Chrome's debugger, in the edition that does not have it.
import { needsDebugger } from '../../worker/calls/debugger.ts';
import type { Documents } from '../../worker/calls/documents.ts';
import type { ToolHandler } from '../../worker/calls/tool-runner.ts';

export const printing =
  (_documents: Documents): ToolHandler =>
  async () => {
    throw needsDebugger('A PDF of the page');
  };

export const emulating: ToolHandler = async () => {
  throw needsDebugger('Emulation');
};
