package ledger

// Measured are the accounts of revenue and cost, the column of facts that each is added to (Line.Measure), and as what:
// revenue is a credit, which counts as a positive number. The three lists go together.
func Measured() (accounts, columns []string, signs []int64) {
	for _, line := range Chart {
		if line.Measure == "" {
			continue
		}
		sign := int64(1)
		if line.Type == Revenue {
			sign = -1
		}
		accounts, columns, signs = append(accounts, string(line.Account)), append(columns, line.Measure), append(signs, sign)
	}
	return accounts, columns, signs
}
