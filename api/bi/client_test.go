//go:build client

package bi_test

import (
	"flag"
	"fmt"
	"net"
	"os/exec"
	"testing"
)

var python = flag.String("python", "", "a Python that has what client/requirements.txt lists")

// The same attempts are made by clickhouse-connect, which is what a notebook and Superset use. By make bi-attempts.
func TestAttemptsOfAClient(t *testing.T) {
	s := open(t)
	host, port, err := net.SplitHostPort(s.gate.Addr())
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), *python, "client/attempts.py", host, port, "bi_mine",
		"bi_hasty", password,
		"testdata/attempts.txt", mark, fmt.Sprintf("acc_%d", other), fmt.Sprint(markNumber/100), "root:").CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}
