// Reloading a tab, also one whose page does not let go of it.

// How long a page that is being reloaded has to show that its scripts run.
const aliveMs = 1500;

/** Reloads a tab and returns its id, which is another one when Chrome had to throw the page away. */
export async function renewTab(tabId: number): Promise<number> {
  await chrome.tabs.reload(tabId);
  if (await alive(tabId)) return tabId;
  // A script that never ends keeps its document, whatever is asked of it. Discarding ends the page's process.
  const discarded = await chrome.tabs.discard(tabId).catch(() => undefined);
  if (discarded?.id === undefined) return tabId;
  await chrome.tabs.reload(discarded.id);
  return discarded.id;
}

// Whether some document of the tab answers, be it the old one or the new one. A refusal is an answer, too.
async function alive(tabId: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), aliveMs);
  });
  const asked = { target: { tabId }, func: () => true, injectImmediately: true };
  const answer = chrome.scripting.executeScript(asked).then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([answer, silence]);
  } finally {
    clearTimeout(timer);
  }
}
