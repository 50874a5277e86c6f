// Runs in a page of a plugin's own site that is after what the plugin does in its other pages. prepare(w) makes another
// window listen and forge, before the scripts of the extension run in it.
const trap = `
  if (!globalThis.stolen) {
    globalThis.stolen = [];
    const read = Object.getOwnPropertyDescriptor(MessageEvent.prototype, 'data').get;
    const post = MessagePort.prototype.postMessage;
    const take = (value) => stolen.push(JSON.stringify(value));
    Object.defineProperty(MessageEvent.prototype, 'data', { get() { const data = read.call(this); take(data); return data; } });
    MessagePort.prototype.postMessage = function (said) {
      take(said);
      if (said && said.type === 'ended') said = { ...said, ending: { status: 'returned', value: '{"forged":true}' } };
      return post.call(this, said);
    };
  }`;

globalThis.prepare = (w) => w.eval(trap);

/** Goes for the next document of a window, from the moment it is there until it lets its scripts run. */
globalThis.ambush = (w, path) => {
  const again = new MessageChannel();
  again.port1.onmessage = () => {
    try {
      if (w.location.pathname === path && !w.stolen) {
        w.eval(trap);
        w.fetch('/release');
        return;
      }
    } catch {
      // Between two documents a window has none that can be asked.
    }
    again.port2.postMessage(0);
  };
  again.port2.postMessage(0);
};

/** The same, run by the empty first document of another window. */
globalThis.ambushFrom = (other, w, path) => {
  other.target = w;
  other.eval(`{
    const trap = ${JSON.stringify(trap)};
    globalThis.ambush = ${globalThis.ambush};
    ambush(target, ${JSON.stringify(path)});
  }`);
};
