/** The address of the first page, in the extension. */
export const setupPage = 'panel.html#setup';
