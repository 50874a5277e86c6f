// Runs an agent's code in the page: as the page's own scripts would, or with the debugger.
import { hasDebugger } from '../../worker/calls/debugger.ts';
import { Ended, type ToolHandler } from '../../worker/calls/tool-runner.ts';
import { type DevPages, inDocument } from './pages.ts';
import { evaluateAnyway } from './trusted.ts';

/** Runs code as the page does; where the page forbids that, with the debugger, if there is one. */
export function evaluating(pages: DevPages): ToolHandler {
  const act = inDocument(pages, true);
  return async (run) => {
    try {
      return await act(run);
    } catch (why) {
      const forbidden = why instanceof Ended && why.code === 'EVALUATION_FORBIDDEN';
      if (!forbidden || !hasDebugger() || run.args.frame !== undefined) throw why;
      return evaluateAnyway(run);
    }
  };
}
