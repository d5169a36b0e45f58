package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestWhatARevisionIsAboutIsSettledAfterIt: it is written before the revision, and so is in each backup that has that.
func TestWhatARevisionIsAboutIsSettledAfterIt(t *testing.T) {
	order := stages([]string{"document_files", "job_steps", "record_log", "customers", "device_owners",
		"vehicle_days", "expenses"})
	settled := func(table string) int {
		return slices.IndexFunc(order, func(s stage) bool { return slices.Contains(s.Tables, table) })
	}
	for _, table := range []string{"document_files", "job_input", "job_output", "job_errors",
		"device_owners", "claim_log"} {
		if settled(table) <= settled("record_log") {
			t.Errorf("%s is settled before record_log", table)
		}
	}
	for _, table := range []string{"ledger_days", "ledger_months", "ledger_flows"} {
		if settled(table) < 0 || settled(table) >= settled("ledger_entries") {
			t.Errorf("%s is not settled before the entries that it sums up", table)
		}
	}
	for looks, of := range map[string]string{"fact_runs": "vehicle_days", "owner_share_looks": "expenses"} {
		if settled(looks) < 0 || settled(looks) >= settled(of) {
			t.Errorf("what was looked at (%s) is not settled before what was made of it", looks)
		}
	}
	if settled("job_errors") <= settled("job_steps") || settled("customers") >= settled("record_log") ||
		settled("customers") < 0 {
		t.Errorf("what follows from a revision is settled after it: %v", order)
	}
}

// TestABackupLeavesTheFolderOfAnotherAlone: two that begin in the same second have one name.
func TestABackupLeavesTheFolderOfAnotherAlone(t *testing.T) {
	first := backup{name: "2026-11-22T02-00-00Z", target: backupTarget{folder: filepath.Join(t.TempDir(), "backups")}}
	second := first
	if err := first.makeFolder(); err != nil || first.folder == "" {
		t.Fatalf("%q, %v", first.folder, err)
	}
	if err := second.makeFolder(); err == nil || second.folder != "" {
		t.Errorf("the second took the folder of the first: %q, %v", second.folder, err)
	}
	if _, err := os.Stat(first.folder); err != nil {
		t.Error(err)
	}
}
