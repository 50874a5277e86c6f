package relay

import (
	"tabrelay/relay/breaker"
	"tabrelay/relay/config"
	"tabrelay/relay/dispatch"
	"tabrelay/relay/fault"
	"tabrelay/relay/schedule"
)

// dispatcher makes the part that carries calls out, as it is configured.
func (r *Relay) dispatcher() *dispatch.Dispatcher {
	c := r.config
	return dispatch.New(dispatch.Options{
		Tools: r.tools, Policy: r.policy, Browser: r.hub, Meter: r.meter, Log: r.part("dispatch"),
		Events: r.events.Publish, Calls: &r.trail, Audit: r.audit, Scopes: r.policy,
		Moved:   r.panels.Changed,
		Timeout: c.Timeout, MaxTimeout: c.MaxTimeout, ProgressExtends: c.ProgressExtendsTimeout,
		ReconnectWait: c.ReconnectWait,
		Retry: dispatch.Retry{
			MaxAttempts: c.Errors.Transient.Retry.MaxAttempts, InitialDelay: c.Errors.Transient.Retry.InitialDelay,
			MaxDelay: c.Errors.Transient.Retry.MaxDelay, Multiplier: c.Errors.Transient.Retry.Multiplier,
		},
		Limits: schedule.Limits{
			Running: c.Limits.Running, RunningPerPlugin: c.Limits.RunningPerPlugin, Waiting: c.Limits.Waiting,
			Wait:          c.Limits.Wait,
			WaitingPerTab: c.Limits.WaitingPerTab,
		},
		Breaker: breaker.Settings{
			Failures: c.Breaker.Failures, Percent: c.Breaker.Percent, MinCalls: c.Breaker.MinCalls,
			Window: c.Breaker.Window, Open: c.Breaker.Open,
		},
		Recovery: recovery(c.Recovery), Trace: c.Errors.Trace, StackTraces: c.Logging.IncludeStackTraces,
		TransientPatterns: c.Errors.Transient.Patterns, FatalPatterns: c.Errors.Fatal.Patterns,
		MaxInputBytes: c.FrameBytes - frameRoom, MaxResultBytes: c.ResultBytes, MaxBytes: c.MaxBytes,
		ConsoleTailBytes: consoleTail(c), Results: r.store, DeadLetters: r.own.Letters,
	})
}

// recovery is what is done about failures, by their codes.
func recovery(configured map[string]string) map[fault.Code]string {
	by := make(map[fault.Code]string, len(configured))
	for code, action := range configured {
		by[fault.Code(code)] = action
	}
	return by
}

// frameRoom is what a frame's header may need besides the arguments.
const frameRoom = 64 << 10

func consoleTail(c config.Config) int {
	if !c.ConsoleTail.Capture {
		return 0
	}
	return c.ConsoleTail.LimitBytes
}
