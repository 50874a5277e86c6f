/** A browser keeps an extension from its store up to date itself; the protocol says whether relay and extension fit. */
export async function updateTo(_bundle: string, _busy: () => boolean): Promise<void> {}
