// What crosses the port between the panel page and the worker, besides the state (panel-state.ts).
import { exactly, type Guard, isAnything, isFlag, isNumber, isText, listOf, shape } from './guards.ts';

/** Panel: dial now. */
export const isRetry = shape({ type: exactly('retry') });

/** Panel: the person has the relay started, by the program of this machine. */
export const isStart = shape({ type: exactly('start') });

/** Panel: what a person pasted to pair with a relay (only an extension without pairing.json asks for it). */
export const isPair = shape({ type: exactly('pair'), text: isText });

/** Panel: the person ends the pairing of this browser, or takes that back. */
export const isPaired = shape({ type: exactly('paired'), on: isFlag });

/** Panel: the person names this profile. At most 40 characters of it count. */
export const isName = shape({ type: exactly('name'), label: isText });

/** Panel: the person switches the marks on tabs. */
export const isMarks = shape({ type: exactly('marks'), on: isFlag });

/** Panel: a request for the relay. */
export interface PanelRequest {
  type: 'request';
  id: string; // the panel's own, at most 64 characters
  method: string; // GET, PUT, POST or DELETE
  path: string; // /api/v1/… with the query
  body?: unknown; // any JSON value; left out when there is none
}

/** Worker: the answer to a request. Status 0: the relay was not reached, and the body says why, as a refusal does. */
export interface PanelResponse {
  type: 'response';
  id: string;
  status: number; // as in HTTP, or 0
  body: unknown; // the JSON value the relay answered with; null when there is none; of a failure {error: {code, message, hint}}
}

/** Worker: what the paths of these names below /api/v1/ answer is different now. */
export interface PanelNews {
  type: 'news';
  topics: string[];
  waiting: number; // questions for the person at this profile
}

/** Worker: the person wants to see this question. */
export const isShow = shape({ type: exactly('show'), question: isText });

const asked = shape({ type: exactly('request'), id: isText, method: isText, path: isText });

export const isPanelRequest: Guard<PanelRequest> = (value): value is PanelRequest =>
  asked(value) && value.id.length <= 64;

export const isPanelResponse: Guard<PanelResponse> = shape({
  type: exactly('response'),
  id: isText,
  status: isNumber,
  body: isAnything,
});

export const isPanelNews: Guard<PanelNews> = shape({
  type: exactly('news'),
  topics: listOf(isText),
  waiting: isNumber,
});
