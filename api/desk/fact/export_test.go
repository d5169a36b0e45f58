package fact

// InBatchesOf has facts made of so many bookings at a time, where they have no more days than that.
func (f *Facts) InBatchesOf(bookings int, days uint64) { f.together, f.rentalDays = bookings, days }
