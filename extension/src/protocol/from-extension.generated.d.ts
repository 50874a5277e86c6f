// Generated from relay/browser/wire/schema by `npm run generate`. Do not edit.
// biome-ignore-all lint: generated
import type * as types from './frames.generated.ts';

export declare function isHelloFrame(value: unknown): value is types.HelloFrame;
export declare function isProofFrame(value: unknown): value is types.ProofFrame;
export declare function isTabsFrame(value: unknown): value is types.TabsFrame;
export declare function isTabFrame(value: unknown): value is types.TabFrame;
export declare function isTabClosedFrame(value: unknown): value is types.TabClosedFrame;
export declare function isStartedFrame(value: unknown): value is types.StartedFrame;
export declare function isProgressFrame(value: unknown): value is types.ProgressFrame;
export declare function isLogFrame(value: unknown): value is types.LogFrame;
export declare function isOutcomeFrame(value: unknown): value is types.OutcomeFrame;
export declare function isStateFrame(value: unknown): value is types.StateFrame;
export declare function isReplyFrame(value: unknown): value is types.ReplyFrame;
export declare function isConsoleFrame(value: unknown): value is types.ConsoleFrame;
export declare function isFollowedFrame(value: unknown): value is types.FollowedFrame;
export declare function isPageToolsFrame(value: unknown): value is types.PageToolsFrame;
export declare function isProfileFrame(value: unknown): value is types.ProfileFrame;
export declare function isPanelsFrame(value: unknown): value is types.PanelsFrame;
export declare function isRequestFrame(value: unknown): value is types.RequestFrame;
export declare function isPingFrame(value: unknown): value is types.PingFrame;
export declare function isPongFrame(value: unknown): value is types.PongFrame;
export declare function isNoticeFrame(value: unknown): value is types.NoticeFrame;

/** The validator of each of these frames, by its type. */
export declare const fromExtension: {
  readonly hello: (value: unknown) => value is types.HelloFrame;
  readonly proof: (value: unknown) => value is types.ProofFrame;
  readonly tabs: (value: unknown) => value is types.TabsFrame;
  readonly tab: (value: unknown) => value is types.TabFrame;
  readonly tabclosed: (value: unknown) => value is types.TabClosedFrame;
  readonly started: (value: unknown) => value is types.StartedFrame;
  readonly progress: (value: unknown) => value is types.ProgressFrame;
  readonly log: (value: unknown) => value is types.LogFrame;
  readonly outcome: (value: unknown) => value is types.OutcomeFrame;
  readonly state: (value: unknown) => value is types.StateFrame;
  readonly reply: (value: unknown) => value is types.ReplyFrame;
  readonly console: (value: unknown) => value is types.ConsoleFrame;
  readonly followed: (value: unknown) => value is types.FollowedFrame;
  readonly pagetools: (value: unknown) => value is types.PageToolsFrame;
  readonly profile: (value: unknown) => value is types.ProfileFrame;
  readonly panels: (value: unknown) => value is types.PanelsFrame;
  readonly request: (value: unknown) => value is types.RequestFrame;
  readonly ping: (value: unknown) => value is types.PingFrame;
  readonly pong: (value: unknown) => value is types.PongFrame;
  readonly notice: (value: unknown) => value is types.NoticeFrame;
};
