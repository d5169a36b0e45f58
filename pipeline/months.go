package pipeline

import (
	"time"

	"github.com/motorpool/fleet"
)

// months are those that the rows of a part are of, by which the tables are partitioned.
type months struct {
	all  [partMonths]int
	n    int
	days [2]int64 // of the last report, from 1 on: most are of the same
}

// add adds the months of reports and says whether there is room for them. What is measured without a fix, and an alarm beside one that
// is stored, is dated by the device's own clock.
func (m *months) add(reports []fleet.Report) bool {
	for i := range reports {
		for clock, at := range [...]fleet.Millis{reports[i].FixTime, reports[i].DeviceTime} {
			day := int64(at)/(24*60*60*1000) + 1
			if at == 0 || day == m.days[clock] {
				continue
			}
			m.days[clock] = day
			if !m.addOne(at.Time().UTC()) {
				return false
			}
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
