/** Whether a policy of the browser installed the extension: the person can neither remove it nor switch it off. */
export const isManaged = async (): Promise<boolean> =>
  (await chrome.management.getSelf()).installType === 'admin';
