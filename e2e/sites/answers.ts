// Waiting for a web application that was just started.
import { expect } from '@playwright/test';

/** Waits until a web application answers with success, with a page that has certain words. */
export async function answers(url: string, request: RequestInit = {}, words = ''): Promise<void> {
  const page = () =>
    fetch(url, request).then(
      (response) => (response.ok ? response.text() : undefined),
      () => undefined,
    );
  await expect.poll(page, { message: `${url} answers`, timeout: 60_000 }).toContain(words);
}
