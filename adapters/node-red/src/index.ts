import { definePlugin } from '@tabrelay/plugin-sdk';
import { signIn } from './session.ts';
import { createFlow } from './tools/create-flow.ts';
import { deleteFlow } from './tools/delete-flow.ts';
import { getFlow } from './tools/get-flow.ts';
import { getNode } from './tools/get-node.ts';
import { injectMessage } from './tools/inject.ts';
import { listFlows } from './tools/list-flows.ts';
import { listPalette } from './tools/list-palette.ts';
import { readContext } from './tools/read-context.ts';
import { runtimeInfo } from './tools/runtime-info.ts';
import { searchNodes } from './tools/search-nodes.ts';
import { setFlowEnabled } from './tools/set-flow-enabled.ts';
import { updateNode } from './tools/update-node.ts';
import { watchDebug } from './tools/watch-debug.ts';

export default definePlugin({
  signIn,
  tools: [
    listFlows,
    getFlow,
    getNode,
    searchNodes,
    updateNode,
    createFlow,
    deleteFlow,
    setFlowEnabled,
    injectMessage,
    watchDebug,
    readContext,
    listPalette,
    runtimeInfo,
  ],
});
