// What `@opentabs-dev/plugin-sdk` means to the builder: the names and meanings of that SDK, on ours. Where a browser's
// own answer for "nothing" was null there, it is null here.

import type { FetchOptions } from '../fetch.ts';
import * as web from '../fetch.ts';
import type { JsonSchema, StandardSchema } from '../schema.ts';
import type { Setting } from '../tool.ts';

export {
  getCurrentUrl,
  getPageGlobal,
  getPageTitle,
  type ObserveOptions as ObserveDOMOptions,
  observeDOM,
  type WaitForOptions as WaitForSelectorOptions,
  waitForSelector,
  waitForSelectorRemoval,
} from '../dom.ts';
export {
  deleteJSON,
  type FetchOptions as FetchFromPageOptions,
  fetchFromPage,
  fetchJSON,
  fetchText,
  patchJSON,
  postForm,
  postFormData,
  postJSON,
  putJSON,
} from '../fetch.ts';
export {
  parseRateLimitHeader,
  parseRetryAfterMs,
  statusError as httpStatusToToolError,
} from '../http-error.ts';
export { buildQueryString, stripUndefined } from '../query.ts';
export { getConfig, getPreScriptValue, notifyReadinessChanged } from '../scope.ts';
export { sleep, type WaitOptions as SleepOptions } from '../timing.ts';
export type { Setting as ConfigSettingDefinition, Settings as ConfigSchema } from '../tool.ts';
export {
  defineTool,
  type Progress as ProgressOptions,
  type ToolContext as ToolHandlerContext,
  type ToolDefinition,
} from '../tool.ts';
export { type ErrorCategory, ToolError, type ToolErrorOptions } from '../tool-error.ts';
export { log } from './log.ts';
export {
  LUCIDE_ICON_NAMES,
  NAME_REGEX,
  RESERVED_NAMES,
  validatePluginName,
  validateUrlPattern,
} from './names.ts';
export { OpenTabsPlugin } from './plugin.ts';
export { getMetaContent, getTextContent, querySelectorAll } from './reading.ts';
export {
  clearAuthCache,
  findLocalStorageEntry,
  getAuthCache,
  getCookie,
  getLocalStorage,
  getSessionStorage,
  removeLocalStorage,
  removeSessionStorage,
  setAuthCache,
  setLocalStorage,
  setSessionStorage,
} from './storage.ts';
export { type RetryOptions, retry, type WaitUntilOptions, waitUntil } from './timing.ts';

/** What fetchJSON and its siblings are made of. */
export const fetchJSONImpl = (url: string, init?: FetchOptions, schema?: StandardSchema): Promise<unknown> =>
  schema ? web.fetchJSON(url, init, schema) : web.fetchJSON(url, init);

export type ConfigSettingType = Setting['type'];

/** Icons have no meaning here. */
export type LucideIconName = string;

/** A tool as that builder wrote it into dist/tools.json. */
export interface ManifestTool {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly summary?: string;
  readonly icon?: LucideIconName;
  readonly group?: string;
  readonly input_schema: JsonSchema;
  readonly output_schema: JsonSchema;
}

/** What that builder wrote there. */
export interface Manifest {
  readonly sdkVersion?: string;
  readonly tools: readonly ManifestTool[];
}

/** Resources of a page are not offered by plugins here; their definitions do no harm. */
export const defineResource = <T>(resource: T): T => resource;

/** Prompts are files here, see the guide; their definitions do no harm. */
export const definePrompt = <T>(prompt: T): T => prompt;
