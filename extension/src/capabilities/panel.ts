// The capabilities of the panel. Without its line and its folder, a capability is as if it had never been there.
import type { Capability } from '../panel/capability.ts';
import { agents } from './agents/panel.tsx';
import { devtools } from './devtools/panel.tsx';
import { handover } from './handover/panel.tsx';
import { recording } from './recording/panel.tsx';
import { script } from './script/panel.tsx';

export const inPanel: readonly Capability[] = [agents, devtools, handover, recording, script];
