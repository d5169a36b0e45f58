package pipeline

import (
	"time"

	"github.com/motorpool/fleet"
)

// months are those that the fixes of a part are of, by which the tables are partitioned.
type months struct {
	all [partMonths]int
	n   int
	day int64 // of the last fix: most are of the same
}

// add adds the months of reports and says whether there is room for them.
func (m *months) add(reports []fleet.Report) bool {
	for i := range reports {
		at := reports[i].FixTime
		day := int64(at) / (24 * 60 * 60 * 1000)
		if at == 0 || day == m.day && m.n > 0 {
			continue
		}
		m.day = day
		if !m.addOne(time.UnixMilli(int64(at)).UTC()) {
			return false
		}
	}
	return true
}

func (m *months) addOne(t time.Time) bool {
	month := t.Year()*12 + int(t.Month())
	for _, known := range m.all[:m.n] {
		if known == month {
			return true
		}
	}
	if m.n == len(m.all) {
		return false
	}
	m.all[m.n], m.n = month, m.n+1
	return true
}
