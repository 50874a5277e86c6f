// Runs in a page of a website that a person happens to visit. Sends to a relay everything that a page can make a
// browser send, and returns what it got to see.
globalThis.attack = async ({ relay, routes }) => {
  const seen = [];
  const settled = (what, promise) =>
    promise.then(
      (value) => seen.push(`${what}: ${value}`),
      () => {},
    );
  const until = (element, attribute, url) =>
    new Promise((resolve, reject) => {
      element.onload = () => resolve('loaded');
      element.onerror = reject;
      setTimeout(reject, 5000);
      element[attribute] = url;
      document.body.append(element);
    });
  const socket = (url, protocols) =>
    new Promise((resolve, reject) => {
      const opened = new WebSocket(url, protocols);
      opened.onopen = () => resolve('opened');
      opened.onerror = reject;
    });
  const form = (url, method, enctype, body) => {
    const frame = document.createElement('iframe');
    frame.name = `frame${Math.random()}`;
    const sent = document.createElement('form');
    Object.assign(sent, { action: url, method, enctype, target: frame.name });
    const field = document.createElement('input');
    Object.assign(field, { name: body, value: '' });
    sent.append(field);
    document.body.append(frame, sent);
    frame.onload = () => frame.remove();
    sent.submit();
  };
  const body = JSON.stringify({
    arguments: { name: 'website' },
    mode: 'auto',
    target: 'default',
    answer: 'allow',
  });
  const readable = async (response) => {
    const answer = await response;
    if (answer.type === 'opaque') throw new Error('cannot be read');
    return `${answer.status} ${await answer.text()}`;
  };
  const work = [];
  for (const { method, path } of routes) {
    const url = relay + path;
    const types = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', ''];
    work.push(
      settled(`no-cors GET ${path}`, readable(fetch(url, { mode: 'no-cors', credentials: 'include' }))),
    );
    for (const type of types)
      work.push(
        settled(
          `no-cors POST ${path} ${type}`,
          readable(
            fetch(url, {
              mode: 'no-cors',
              method: 'POST',
              body,
              headers: type ? { 'content-type': type } : {},
            }),
          ),
        ),
      );
    work.push(
      settled(
        `cors ${method} ${path}`,
        readable(fetch(url, { method, ...(method === 'GET' ? {} : { body }) })),
      ),
    );
    work.push(
      settled(
        `cors with a token ${path}`,
        readable(
          fetch(url, {
            method,
            headers: { authorization: 'Bearer x', 'content-type': 'application/json' },
            ...(method === 'GET' ? {} : { body }),
          }),
        ),
      ),
    );
    work.push(settled(`image ${path}`, until(new Image(), 'src', url)));
    work.push(settled(`script ${path}`, until(document.createElement('script'), 'src', url)));
    const style = document.createElement('link');
    style.rel = 'stylesheet';
    work.push(settled(`style ${path}`, until(style, 'href', url)));
    work.push(settled(`video ${path}`, until(document.createElement('video'), 'src', url)));
    work.push(settled(`socket ${path}`, socket(url.replace('http', 'ws'), [])));
    work.push(
      settled(`socket with our subprotocol ${path}`, socket(url.replace('http', 'ws'), ['tabrelay.v1'])),
    );
    navigator.sendBeacon(url, body);
    navigator.sendBeacon(url, new Blob([body], { type: 'text/plain' }));
    form(url, 'post', 'text/plain', body);
    form(url, 'post', 'application/x-www-form-urlencoded', body);
    form(url, 'get', 'application/x-www-form-urlencoded', 'x');
    // A frame, like a form's, goes once it was answered: hundreds of them are what takes long, not the requests.
    const frame = document.createElement('iframe');
    frame.src = url;
    frame.onload = () => frame.remove();
    document.body.append(frame);
    const events = new EventSource(url);
    events.onmessage = ({ data }) => seen.push(`events ${path}: ${data}`);
    events.onopen = () => seen.push(`events ${path}: opened`);
  }
  await Promise.all(work);
  return seen;
};
