// The capabilities of the worker. Without its line and its folder, a capability is as if it had never been there.
import type { Attach } from '../worker/core/capability.ts';
import { browser } from './browser/worker.ts';
import { devtools } from './devtools/worker.ts';
import { handover } from './handover/worker.ts';
import { recording } from './recording/worker.ts';
import { resources } from './resources/worker.ts';
import { webmcp } from './webmcp/worker.ts';

export const inWorker: readonly Attach[] = [browser, devtools, handover, recording, resources, webmcp];
