// Generated from relay/browser/wire/schema by `npm run generate`. Do not edit.
// biome-ignore-all lint: generated
import type * as types from './frames.generated.ts';

export declare function isRelayFrame(value: unknown): value is types.RelayFrame;
export declare function isProofFrame(value: unknown): value is types.ProofFrame;
export declare function isPairedFrame(value: unknown): value is types.PairedFrame;
export declare function isWelcomeFrame(value: unknown): value is types.WelcomeFrame;
export declare function isRefuseFrame(value: unknown): value is types.RefuseFrame;
export declare function isPluginsFrame(value: unknown): value is types.PluginsFrame;
export declare function isCallFrame(value: unknown): value is types.CallFrame;
export declare function isAckFrame(value: unknown): value is types.AckFrame;
export declare function isCancelFrame(value: unknown): value is types.CancelFrame;
export declare function isAskFrame(value: unknown): value is types.AskFrame;
export declare function isCommandFrame(value: unknown): value is types.CommandFrame;
export declare function isResponseFrame(value: unknown): value is types.ResponseFrame;
export declare function isNewsFrame(value: unknown): value is types.NewsFrame;
export declare function isPingFrame(value: unknown): value is types.PingFrame;
export declare function isPongFrame(value: unknown): value is types.PongFrame;

/** The validator of each of these frames, by its type. */
export declare const fromRelay: {
  readonly relay: (value: unknown) => value is types.RelayFrame;
  readonly proof: (value: unknown) => value is types.ProofFrame;
  readonly paired: (value: unknown) => value is types.PairedFrame;
  readonly welcome: (value: unknown) => value is types.WelcomeFrame;
  readonly refuse: (value: unknown) => value is types.RefuseFrame;
  readonly plugins: (value: unknown) => value is types.PluginsFrame;
  readonly call: (value: unknown) => value is types.CallFrame;
  readonly ack: (value: unknown) => value is types.AckFrame;
  readonly cancel: (value: unknown) => value is types.CancelFrame;
  readonly ask: (value: unknown) => value is types.AskFrame;
  readonly command: (value: unknown) => value is types.CommandFrame;
  readonly response: (value: unknown) => value is types.ResponseFrame;
  readonly news: (value: unknown) => value is types.NewsFrame;
  readonly ping: (value: unknown) => value is types.PingFrame;
  readonly pong: (value: unknown) => value is types.PongFrame;
};
