package outbound

import (
	"net/netip"
	"testing"
)

func TestOnlyPublicAddressesAreWithinReachUnlessTheSettingsSaySo(t *testing.T) {
	for _, at := range []string{"10.1.2.3", "192.168.0.1", "172.16.0.1", "127.0.0.1", "::1", "fc00::1", "fe80::1",
		"169.254.169.254", "0.0.0.0", "::ffff:10.0.0.1", "100.64.0.1", "224.0.0.1"} {
		if (Reach{}).permits(netip.MustParseAddr(at)) {
			t.Errorf("%s is permitted", at)
		}
	}
	for _, at := range []string{"169.254.169.254", "0.0.0.0", "fe80::1"} {
		if (Reach{Private: true}).permits(netip.MustParseAddr(at)) {
			t.Errorf("%s is permitted though it is no host of a network", at)
		}
	}
	public, within := netip.MustParseAddr("203.0.113.7"),
		Reach{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	if !(Reach{}).permits(public) || within.permits(public) || !within.permits(netip.MustParseAddr("127.0.0.1")) {
		t.Error("public addresses are judged wrongly")
	}
}
