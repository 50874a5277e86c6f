// Package wire is what relay and extension say to each other: frames, limits, versions and the proof of the pairing
// secret. PROTOCOL.md is the specification; schema/ defines each frame, and the extension's types and validators are
// generated from it (`npm run generate`).
//
//	extension                                  relay
//	  hello            who is dialling   -->
//	                                     <--   relay, proof
//	  proof                              -->
//	                                     <--   welcome, plugins
//	  outcome…, tabs                     -->   what it still holds, what there is
//	                                     <--   ask        calls that were open when the last connection ended
//	  state…                             -->
//	                                     <--   call       with arguments as payload
//	  started, progress…, log…           -->
//	  outcome          value as payload  -->
//	                                     <--   ack
//	  ping                               -->
//	                                     <--   pong
package wire
