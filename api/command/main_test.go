package command

import (
	"os"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
)

func TestMain(m *testing.M) {
	if text := os.Getenv(senderEnv); text != "" {
		os.Exit(sendAndDie(text)) // TestACommandWhoseSenderIsKilledIsSentOnceAtMost
	}
	os.Exit(embeddedtest.Run(m))
}

const account = fleet.AccountID(7)

var by = record.Author{Actor: "key_1", RequestID: "req_1"}
