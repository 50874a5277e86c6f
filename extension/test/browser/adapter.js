// The tools the browser tests call, in both worlds, in the form a plugin bundle has.
// biome-ignore-all lint: it is pasted into adapter files, as a bundle would be
var tabrelayPlugin = (() => {
  const later = setTimeout.bind(globalThis);
  const hit = (path) => fetch(path).catch(() => {});
  const tool = (name, handle) => ({ name, handle });
  const sleep = (ms, signal) =>
    new Promise((resolve, reject) => {
      later(resolve, ms);
      signal.addEventListener('abort', () => reject(signal.reason));
    });

  const tools = [
    tool('echo', (params) => params),
    tool('title', async () => ({ title: document.title })),
    // A plugin that plays the side panel, in the world where chrome.runtime is.
    tool('playPanel', ({ body }) => {
      const port = chrome.runtime.connect({ name: 'panel' });
      return new Promise((resolve) => {
        const heard = [];
        port.onMessage.addListener((message) => heard.push(message));
        port.onDisconnect.addListener(() => resolve({ heard, turnedAway: true }));
        port.postMessage({ type: 'request', id: 'x', method: 'PUT', path: '/api/v1/paused', body });
        later(() => resolve({ heard, turnedAway: false }), 1500);
      });
    }),
    tool('settings', (_params, ctx) => ctx.settings),
    tool('seen', () => document.documentElement.dataset.seen ?? ''),
    tool('nothing', () => undefined),
    tool('cycle', () => {
      const a = {};
      a.a = a;
      return a;
    }),
    tool('big', ({ size }) => 'x'.repeat(size)),
    tool('throwTool', ({ error }) => {
      throw Object.assign(new Error(error.message), error);
    }),
    tool('throwPlain', () => {
      throw new TypeError('plain');
    }),
    tool('throwText', () => {
      throw 'just text';
    }),
    tool('sleep', async ({ ms, path }, { signal }) => {
      if (path) await hit(path);
      await sleep(ms, signal);
      return { slept: ms };
    }),
    // Does not listen to its signal.
    tool('stubborn', async ({ ms }) => {
      await new Promise((resolve) => later(resolve, ms));
      return { slept: ms };
    }),
    tool('watchSignal', async (_params, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await hit(`/hit/aborted/${signal.reason.name}`);
      throw signal.reason;
    }),
    tool('steps', async (_params, ctx) => {
      ctx.reportProgress({ progress: 1, total: 2, message: 'half' });
      ctx.log.info('working', { n: 1 });
      await sleep(120, ctx.signal);
      ctx.reportProgress({ progress: 2, total: 2 });
      return 'done';
    }),
    tool('keepAlive', async ({ ms, every }, ctx) => {
      for (let t = 0; t < ms; t += every) {
        await sleep(every, ctx.signal);
        ctx.reportProgress({});
      }
      return 'done';
    }),
    tool('provoke', async () => {
      console.error('said by the plugin');
      document.dispatchEvent(new Event('make-noise'));
      await new Promise((resolve) => later(resolve, 50));
      throw new Error('failed');
    }),
  ];
  return { default: { tools } };
})();
