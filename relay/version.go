package relay

// Version of the binary, the extension and everything in between.
const Version = "0.1.0"
