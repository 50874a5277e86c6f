package plugin

// browserGlobals are what plugins touch while they load, besides what the engine has itself. A name that is missing
// here is made up when the plugin asks for it; the list saves that second run, and answers `typeof` truthfully.
var browserGlobals = []string{
	"AbortController", "AbortSignal", "Blob", "BroadcastChannel", "CSS", "CSSStyleSheet", "CustomEvent", "DOMException",
	"DOMParser", "Document", "DocumentFragment", "Element", "Event", "EventSource", "EventTarget", "File", "FileReader",
	"FormData", "HTMLAnchorElement", "HTMLButtonElement", "HTMLDivElement", "HTMLElement", "HTMLFormElement",
	"HTMLIFrameElement", "HTMLImageElement", "HTMLInputElement", "HTMLSelectElement", "HTMLTextAreaElement", "Headers",
	"Image", "IntersectionObserver", "Intl", "KeyboardEvent", "MessageChannel", "MessageEvent", "MouseEvent",
	"MutationObserver", "Node", "NodeFilter", "NodeList", "PerformanceObserver", "PointerEvent", "ReadableStream",
	"Request", "ResizeObserver", "Response", "SharedWorker", "Storage", "TextDecoder", "TextEncoder", "TransformStream",
	"URL", "URLPattern", "URLSearchParams", "WebAssembly", "WebSocket", "Worker", "WritableStream", "XMLHttpRequest",
	"XMLSerializer", "XPathResult", "alert", "atob", "btoa", "caches", "chrome", "confirm", "cookieStore", "crypto",
	"customElements", "document", "fetch", "getComputedStyle", "history", "indexedDB", "localStorage", "matchMedia",
	"navigator", "open", "performance", "postMessage", "prompt", "scheduler", "screen", "sessionStorage",
	"structuredClone", "trustedTypes",
}
