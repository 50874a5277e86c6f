// The way between the two worlds of a document that is recorded: a MessagePort, handed over inside an event.

export const recordEvent = 'tabrelay:record';
export const recordWanted = 'tabrelay:record-wanted'; // the bridge asks for the port of scripts/record.ts

/** What a request of a recorded page was answered. */
export interface Answered {
  kind: 'answer';
  method: string;
  url: string;
  status: number;
  text: string;
  cut: boolean;
}
