import { currentScope } from './scope.ts';

// How long the browser may take to say that it was the page's policy: the report is a task of its own, queued before
// the request fails.
const reportMs = 100;

/**
 * Sends a request, and sends it again from outside the page when the page's Content-Security-Policy refused it. Only
 * when the browser says so, because a request that failed otherwise may have arrived.
 */
export async function sendPast(
  request: Request,
  send: (request: Request) => Promise<Response>,
  signal: AbortSignal,
): Promise<Response> {
  const outside = currentScope()?.fetch;
  if (outside === undefined || new URL(request.url).origin !== location.origin) return send(request);
  const again = new Request(request.clone(), { signal });
  const refusals = watchRefusals(request.url);
  try {
    return await send(request);
  } catch (error) {
    if (!(error instanceof TypeError) || !(await refusals.seen())) throw error;
    return await outside(again);
  } finally {
    refusals.stop();
  }
}

/** Watches for the browser's report that connect-src refused an address. */
function watchRefusals(url: string): { seen(): Promise<boolean>; stop(): void } {
  let refused = false;
  let tell = () => {};
  const hear = (event: SecurityPolicyViolationEvent) => {
    if (!event.isTrusted || event.effectiveDirective !== 'connect-src' || !isAbout(event.blockedURI, url))
      return;
    refused = true;
    tell();
  };
  document.addEventListener('securitypolicyviolation', hear);
  return {
    seen: () =>
      new Promise((resolve) => {
        tell = () => resolve(refused);
        if (refused) tell();
        else setTimeout(tell, reportMs);
      }),
    stop: () => document.removeEventListener('securitypolicyviolation', hear),
  };
}

/** The report has the address without its fragment. */
const isAbout = (blocked: string, url: string): boolean => blocked === url.split('#')[0];
