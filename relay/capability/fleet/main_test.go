package fleet

import (
	"testing"

	"tabrelay/relay/state/config"
)

func TestMain(m *testing.M) {
	config.Attach(section) // as the program does
	m.Run()
}
