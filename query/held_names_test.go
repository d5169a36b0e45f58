package query

import (
	"bytes"
	"testing"
)

// By what bodies are packed outlives them. So it has the names of members, and nothing that anybody said.
func TestWhatBodiesArePackedByHasNothingThatAnybodySaid(t *testing.T) {
	body := `{"given_name":"Ada","address":{"city":"London"},"drivers":[{"licence_number":"X-99"}],` +
		`"metadata":{"Ada's car":"red"},"custom_fields":{"shoe":"43"},"external_ids":{"ledger of Ada":"7"},"notes":"Ada owes"}`
	names := namesIn([]string{body})
	for _, said := range []string{"Ada", "London", "X-99", "red", "shoe", "43", "owes"} {
		if bytes.Contains(names.Bytes(), []byte(said)) {
			t.Errorf("%q is kept", said)
		}
	}
	if !bytes.Contains(names.Bytes(), []byte(`"licence_number":"`)) {
		t.Error("the names of members are missing")
	}
	var h, long Held
	h.set(nil, []int64{-7}, []string{"kia", ""}, body)
	h.pack(names)
	if h.packed == nil || len(h.data) > len(body)-30 || h.body() != body || h.text(0) != "kia" ||
		h.number(0) != -7 || h.sought() != "" {
		t.Errorf("%d bytes of %d: %q", len(h.data), len(body), h.body())
	}
	long.set(nil, nil, []string{"xxx", ""}, "")
	long.pack(names)
	if long.body() != "" {
		t.Errorf("an empty body is %q", long.body())
	}
}
