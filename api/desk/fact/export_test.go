package fact

// InBatchesOf has facts made of so many bookings at a time, and of fewer where their rentals have more than so many
// days.
func (f *Facts) InBatchesOf(bookings int, days uint64) { f.together, f.rentalDays = bookings, days }
