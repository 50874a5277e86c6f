package script

import (
	"time"

	"tabrelay/relay/state/config"
)

// name is what settings and tables call the capability.
const name = "script"

// What is done about a script that may change something.
const (
	deny  = "deny"
	ask   = "ask"
	allow = "allow"
)

// settings bound scripts.
type settings struct {
	Permission  string
	Time        time.Duration
	CPU         time.Duration
	Memory      int
	Calls       int
	AtOnce      int
	Running     int
	ScriptBytes int
	OutputBytes int
	Kept        int
}

var section = &config.Section[settings]{
	Capability: name, Live: true,
	About: "Whether agents get relay__run, a script that calls tools.",
	Settings: []config.Setting[settings]{
		config.Row("scripts.permission", config.Choice(ask, allow, deny), ask,
			func(s *settings) any { return &s.Permission },
			"What is done about a script that may change something: \"ask\", the person sees it before it runs, "+
				"unless a rule about relay__run says otherwise; \"allow\", it runs; \"deny\", it does not. Each call "+
				"that it makes needs its own permission all the same."),
		config.Row("scripts.timeMs", config.Millis(1_000, 10*time.Minute), 60_000,
			func(s *settings) any { return &s.Time },
			"How long a script may run when its agent says nothing else, which may be up to maxTimeoutMs. Waiting for "+
				"a person takes none of it."),
		config.Row("scripts.cpuMs", config.Millis(100, time.Minute), 5_000, func(s *settings) any { return &s.CPU },
			"How long it may compute."),
		config.Row("scripts.memoryBytes", config.Size(16*config.MiB, 1024*config.MiB), 64*config.MiB,
			func(s *settings) any { return &s.Memory }, "By how much the memory of its process may grow."),
		config.Row("scripts.calls", config.Count(1, 10_000), 500, func(s *settings) any { return &s.Calls },
			"How many calls and pauses it may make."),
		config.Row("scripts.callsAtOnce", config.Count(1, 32), 8, func(s *settings) any { return &s.AtOnce },
			"How many of its calls run at once; the others wait in its order."),
		config.Row("scripts.running", config.Count(1, 64), 4, func(s *settings) any { return &s.Running },
			"How many scripts run at once, each in a process of its own. Beyond it a script is answered with "+
				"OVERLOADED."),
		config.Row("scripts.scriptBytes", config.Size(1*config.KiB, 1*config.MiB), 64*config.KiB,
			func(s *settings) any { return &s.ScriptBytes }, "Size of the largest script."),
		config.Row("scripts.outputBytes", config.Size(1*config.KiB, 1*config.MiB), 32*config.KiB,
			func(s *settings) any { return &s.OutputBytes },
			"Size of the largest value that a script may return. Its log may have a quarter of it."),
		config.Row("scripts.kept", config.Count(1, 1000), 100, func(s *settings) any { return &s.Kept },
			"How many scripts you can keep. To keep one more, forget another."),
	},
	Rights: []config.Right[settings]{
		config.Laxer("scriptsPermission", "scripts.permission", func(s *settings) *string { return &s.Permission },
			deny, ask, allow),
	},
}
