// Package plugin turns a folder of TypeScript into something the relay can offer and the extension can inject:
// it builds with esbuild, reads the tools and their schemas by running the bundle once in an embedded
// JavaScript engine, and finds, installs and watches plugin folders. It needs no Node.
package plugin
