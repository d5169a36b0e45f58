package person

import (
	"strings"
	"testing"
)

// A booking that was corrected, and of which a line was waived: both with words about the customer.
func TestWhatStaffWroteOfACorrectionIsErased(t *testing.T) {
	k := tracesOf([]string{"cus_1"}, nil, nil, nil)
	text, _ := k.object(`{"customer_id":"cus_1","corrections":[{"reason":"Mrs Smith was drunk","at":"x"}],"vehicle_history":[{"reason":"Smith broke it"}],
		"charges":[{"explanation":"2 days: USD 100.00","source":"auto"},{"explanation":"Smith moaned","source":"manual","reversal_of":"chg_1"}]}`)
	if strings.Contains(text, "Smith") || !strings.Contains(text, "2 days") {
		t.Error(text)
	}
	kept, _ := k.object(`{"customer_id":"cus_2","corrections":[{"reason":"Mrs Smith was drunk"}]}`)
	if !strings.Contains(kept, "Smith") {
		t.Error("of another customer: " + kept)
	}
}
