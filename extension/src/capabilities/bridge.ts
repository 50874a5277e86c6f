// The capabilities of the bridge. Without its line and its folder, a capability is as if it had never been there.
import type { Attach } from '../bridge/core/capability.ts';
import { browser } from './browser/bridge/main.ts';
import { recording } from './recording/bridge/main.ts';
import { webmcp } from './webmcp/bridge/main.ts';

export const inBridge: readonly Attach[] = [browser, recording, webmcp];
