package relay

import "tabrelay/relay/state/config"

// openConfig is a configuration for tests that are about neither permissions nor reviews: every tool may be called.
func openConfig() config.Config {
	cfg := config.Default()
	cfg.Permissions = map[string]map[string]string{config.DefaultTarget: {config.EveryClient: "auto"}}
	cfg.Review.Required = false
	return cfg
}
