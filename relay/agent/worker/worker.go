// Package worker runs agents that are programs of their own, over their standard input and output: by the Agent Client
// Protocol, or in the dialect of stdiobus.
package worker
