package pipeline

import (
	"github.com/motorpool/fleet"
)

// months are those that the rows of a part are of, by which the tables are partitioned.
type months struct {
	all  [partMonths]int
	n    int
	days [3]int64 // of the last report and record, from 1 on: most are of the same
}

// add adds the months of reports and says whether there is room for them. What is measured without a fix, and an alarm
// beside one that is stored, is dated by the device's own clock.
func (m *months) add(reports []fleet.Report) bool {
	for i := range reports {
		if !m.addOne(0, reports[i].FixTime) || !m.addOne(1, reports[i].DeviceTime) {
			return false
		}
	}
	return true
}

// receive adds the month in which a record was received and says whether there is room for it. By that is dated when a
// device was heard of, and what became of its reports. A producer may have set it to anything.
func (m *months) receive(at fleet.Millis) bool { return m.addOne(2, at) }

// addOne adds the month of a time that one of three clocks tells.
func (m *months) addOne(clock int, at fleet.Millis) bool {
	day := int64(at)/(24*60*60*1000) + 1
	if at == 0 || day == m.days[clock] {
		return true
	}
	m.days[clock] = day
	t := at.Time().UTC()
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
