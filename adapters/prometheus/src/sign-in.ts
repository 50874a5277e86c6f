// A guarded server answers 401, and the browser then asks the person for name and password in a dialog of its own.
// The request waits for as long as nobody answers. So a small request goes first, which does not wait for long.

import { fetchText, type SignIn, ToolError } from '@tabrelay/plugin-sdk';
import { baseUrl } from './api.ts';

const timeout = 1500;

export const signIn: SignIn = {
  isSignedIn: async () => (await health({ timeout })) === 'open' || !(await guarded()),
  loginUrl: baseUrl,
  waitMs: 0,
};

/** Whether a request without the person's session is refused. It opens no dialog. */
const guarded = async () => (await health({ timeout, credentials: 'omit' })) === 'AUTH_ERROR';

async function health(options: { timeout: number; credentials?: 'omit' }): Promise<string> {
  try {
    await fetchText(`${baseUrl()}-/healthy`, options);
    return 'open';
  } catch (error) {
    return error instanceof ToolError ? error.code : 'unknown';
  }
}
