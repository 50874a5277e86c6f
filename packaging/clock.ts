// Loaded before a program that writes the time into what it makes: it is always that of SOURCE_DATE_EPOCH, in UTC.

import { mock } from 'node:test';

process.env.TZ = 'UTC';
mock.timers.enable({ apis: ['Date'], now: Number(process.env.SOURCE_DATE_EPOCH) * 1000 });
