export {
  getCurrentUrl,
  getMetaContent,
  getPageGlobal,
  getPageTitle,
  getTextContent,
  type ObserveOptions,
  observeDOM,
  querySelectorAll,
  type WaitForOptions,
  waitForSelector,
  waitForSelectorRemoval,
} from './dom.ts';
export {
  deleteJSON,
  type FetchOptions,
  fetchFromPage,
  fetchJSON,
  fetchText,
  patchJSON,
  postForm,
  postFormData,
  postJSON,
  putJSON,
  readJSON,
} from './fetch.ts';
export { htmlToText } from './html.ts';
export { httpStatusToToolError, parseRateLimitHeader, parseRetryAfterMs } from './http-error.ts';
export { buildQueryString, type FieldValue, type FormFields, stripUndefined } from './query.ts';
export { type Failure, type FailureType, fail, ok, type Success } from './result.ts';
export type {
  Answer,
  Arguments,
  Checked,
  InputSchema,
  Issue,
  JsonSchema,
  ObjectSchema,
  OutputSchema,
  StandardSchema,
  Value,
} from './schema.ts';
export { getConfig, getPreScriptValue, type Log, log, notifyReadinessChanged } from './scope.ts';
export {
  type FreshToken,
  looksSignedOut,
  lostSession,
  requireSignIn,
  type SignIn,
  signedOut,
  withFreshToken,
} from './sign-in.ts';
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
export {
  type RetryOptions,
  retry,
  sleep,
  type WaitOptions,
  type WaitUntilOptions,
  waitUntil,
} from './timing.ts';
export type { Setting, Settings } from './tool.ts';
export {
  type Annotations,
  definePlugin,
  defineTool,
  type Hooks,
  type PluginDefinition,
  type Progress,
  type Tool,
  type ToolContext,
  type ToolDefinition,
} from './tool.ts';
export { type ErrorCategory, type Outcome, ToolError, type ToolErrorOptions } from './tool-error.ts';
export { type Truncated, type TruncateOptions, truncate } from './truncate.ts';
