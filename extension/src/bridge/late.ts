// Marks the isolated world of a document that is older than the extension; injected right before bridge.js.
globalThis.tabrelayLate = true;

export {};
