import { definePlugin } from '@tabrelay/plugin-sdk';
import { signIn } from './sign-in.ts';
import { alerts } from './tools/alerts.ts';
import { checkQuery } from './tools/check-query.ts';
import { findSeries } from './tools/find-series.ts';
import { labelValues } from './tools/label-values.ts';
import { listLabels } from './tools/list-labels.ts';
import { listMetrics } from './tools/list-metrics.ts';
import { metricInfo } from './tools/metric-info.ts';
import { query } from './tools/query.ts';
import { queryRange } from './tools/query-range.ts';
import { rules } from './tools/rules.ts';
import { serverStatus } from './tools/server-status.ts';
import { targets } from './tools/targets.ts';
import { tsdbStatus } from './tools/tsdb-status.ts';

export default definePlugin({
  signIn,
  tools: [
    query,
    queryRange,
    checkQuery,
    listMetrics,
    metricInfo,
    listLabels,
    labelValues,
    findSeries,
    targets,
    rules,
    alerts,
    serverStatus,
    tsdbStatus,
  ],
});
