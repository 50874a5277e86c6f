// What a capability can add to the panel. Each is registered in capabilities/panel.ts; nothing else here names it.
import type { FunctionComponent } from 'preact';
import type { Tab } from './answers.generated.ts';

/** A page with a tab of its own in the panel. */
export interface Page {
  id: string; // in the panel's address
  title: string;
  useListed(): boolean; // whether its tab is shown; that of the open page always is
  Page: FunctionComponent;
}

/** The props of a component that shows what a capability is doing at the moment. */
export interface ActingProps {
  tabs: readonly Tab[];
  profile: string | undefined; // the id of this profile
  now: number;
}

/** The components of a capability, by where they are shown. */
export interface Capability {
  page?: Page;
  /** Below the questions, above every page: it needs an answer of the person. */
  Asking?: FunctionComponent;
  /** Above the section “Acting now”. */
  AboveActing?: FunctionComponent;
  /** In that section, above the running calls. */
  Acting?: FunctionComponent<ActingProps>;
  /** Below the rules, and what is allowed for a limited time: what else the person has allowed. */
  BelowRules?: FunctionComponent;
  /** Below the clients. */
  BelowClients?: FunctionComponent;
}
