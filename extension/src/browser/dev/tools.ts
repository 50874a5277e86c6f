// The tools for developers, one table. They are off until a person switches them on, and each asks for itself.
import { cookies, downloads, emulate, pdf } from './chrome.ts';
import { consoleTool } from './console.ts';
import { evaluate } from './evaluate.ts';
import { network } from './network.ts';
import { performanceTool } from './performance.ts';
import { storage } from './storage.ts';

export const tools = [
  consoleTool,
  network,
  evaluate,
  storage,
  cookies,
  downloads,
  performanceTool,
  pdf,
  emulate,
];
