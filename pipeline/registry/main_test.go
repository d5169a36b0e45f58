package registry_test

import (
	"os"
	"testing"

	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }
