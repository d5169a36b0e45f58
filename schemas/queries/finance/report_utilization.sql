-- report: Utilization
-- about: How much of the time that the fleet had was sold. Two shares that are often mixed up stand side by side: of the
--   time in which vehicles could be rented, and of all the time that they were in the fleet.
-- bases: accrual
-- groups: total day week month quarter year vehicle make model class location owner tag
-- figure fleet_s seconds: Seconds in the fleet, from the day of being in service to disposal; days have 23, 24 or 25 hours.
-- figure down_s seconds: Of these, seconds in maintenance or out of service.
-- figure rentable_s seconds: Seconds in the fleet less those that it was down.
-- figure rented_s seconds: Seconds on rent, from pickup to return; while it goes on, to now.
-- figure idle_s seconds: Rentable seconds without a rental.
-- figure billed_days days: Days that rentals are billed for, in whatever currency, on the local days to which they belong.
-- ratio utilization percent = rented_s / rentable_s: Time on rent of the time in which vehicles could be rented.
-- ratio fleet_utilization percent = rented_s / fleet_s: Time on rent of all time in the fleet: what is down counts against it.
-- ratio billed_utilization percent = billed_days * 86400 / fleet_s: Billed days of the days in the fleet; above 100 where a
--   vehicle is rented twice in a day.
-- ratio downtime percent = down_s / fleet_s: Time in maintenance or out of service of all time in the fleet.
-- ratio average_fleet ratio = fleet_s / (span_days * 86400): Vehicles in the fleet, on average of the span.
SELECT key, fleet_s, down_s, fleet_s - down_s AS rentable_s, rented_s, idle_s, billed_days
FROM (/*query vehicle_facts*/)
