// The verb for what a call does.
import type { RunningCall } from './answers.generated.ts';

const browserVerbs: Record<string, string> = {
  browser__wait: 'Waiting for the page',
  browser__screenshot: 'Taking a picture',
  browser__navigate: 'Going to a page',
  browser__open_tab: 'Opening a tab',
  browser__close_tab: 'Closing the tab',
  browser__click: 'Clicking',
  browser__fill: 'Filling in a form',
  browser__press: 'Typing',
  browser__pointer: 'Pointing',
  browser__upload: 'Uploading files',
};

/** Whether the verb makes the tool's name superfluous. */
export const saysAll = ({ tool }: RunningCall): boolean => Object.hasOwn(browserVerbs, tool);

export function verbOf(call: RunningCall): string {
  if (call.state === 'asking') return 'Waiting for you';
  if (call.state === 'queued')
    return call.waitsFor === 'browser' ? 'Waiting for the browser' : 'Waiting in line';
  if (saysAll(call)) return browserVerbs[call.tool] ?? '';
  return call.readOnly ? 'Reading' : 'Changing';
}
