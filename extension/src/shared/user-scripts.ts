// Whether Chrome runs scripts that the person brought, and how they switch that on.

/** It is off until the person switches it on; Chrome does not say when that happens. */
export async function userScriptsAreOn(): Promise<boolean> {
  try {
    await chrome.userScripts.getScripts();
    return typeof chrome.userScripts.execute === 'function'; // since Chrome 135
  } catch {
    return false; // without the permission there is no interface, without the switch it throws
  }
}

/**
 * The switch, and the page where it is; undefined in a Chrome that is too old. Chrome 138 gave each extension its own
 * switch; before, Developer mode was it.
 */
export function userScriptsSwitch(agent = navigator.userAgent): { name: string; page: string } | undefined {
  const version = Number(/Chrome\/(\d+)/.exec(agent)?.[1]);
  if (version < 135) return undefined;
  if (version < 138) return { name: 'Developer mode', page: 'chrome://extensions' };
  return { name: 'Allow User Scripts', page: `chrome://extensions/?id=${chrome.runtime.id}` };
}

/** What the person has to do, in a sentence for an agent. */
export function switchUserScriptsOn(agent = navigator.userAgent): string {
  const place = userScriptsSwitch(agent);
  if (place === undefined) return 'Chrome runs added plugins since version 135: ask the person to update it.';
  return `Ask the person to open tabrelay's side panel, and to switch “${place.name}” on in ${place.page}.`;
}
