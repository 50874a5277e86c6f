// What can be attached to the panel. A capability brings it by one registration, in capabilities/panel.ts; nothing else
// in the panel names it.
import type { FunctionComponent } from 'preact';
import type { Tab } from './answers.generated.ts';

/** A page behind a tab of its own. */
export interface Page {
  id: string; // in the panel's address
  title: string;
  useListed(): boolean; // whether its tab is shown; that of the open page always is
  Page: FunctionComponent;
}

/** What acts now, besides calls. */
export interface ActingProps {
  tabs: readonly Tab[];
  profile: string | undefined; // this one
  now: number;
}

/** What a capability may bring. */
export interface Capability {
  page?: Page;
  /** Stands below the questions, above every page: it wants something of the person. */
  Asking?: FunctionComponent;
  /** Stands above the section of what acts now. */
  AboveActing?: FunctionComponent;
  /** Stands above the calls that run. */
  Acting?: FunctionComponent<ActingProps>;
  /** Stands below the clients. */
  BelowClients?: FunctionComponent;
}
