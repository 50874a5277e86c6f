// What plugins of this kind do while they load, and what a build has to survive.
export const decoder = new TextDecoder();
export const host = window.location.host;
export const isOpen = WebSocket.OPEN;
export const dark = window.matchMedia('(prefers-color-scheme: dark)').matches;
export const language = navigator.language.split('-')[0];
document.addEventListener('notes:ping', () => events.push('ping'));

/** What the plugin's hooks heard. */
export const events: string[] = [];
