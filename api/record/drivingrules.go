package record

// DrivingRules are the limits that hours of drivers are held against.
type DrivingRules struct {
	Set         string `json:"set" enum:"none,eu_561_2006,us_395_70_8,us_395_60_7" doc:"The rules; a member beside it changes one of their limits."`
	ContinuousS int    `json:"max_continuous_driving_s,omitempty" minimum:"60" maximum:"86400" doc:"Without a break."`
	BreakS      int    `json:"min_break_s,omitempty" minimum:"60" maximum:"86400" doc:"That ends continuous driving; the parts into which the rules let it fall do not count then."`
	DailyS      int    `json:"max_daily_driving_s,omitempty" minimum:"60" maximum:"86400" doc:"Between two daily rests; the days on which the rules let it be more do not count then."`
	WeeklyS     int    `json:"max_weekly_driving_s,omitempty" minimum:"60" maximum:"604800" doc:"Monday to Sunday."`
	RestS       int    `json:"min_daily_rest_s,omitempty" minimum:"60" maximum:"86400" doc:"Within 24 hours of the beginning of a day's work; the shorter rests that the rules let be do not count then."`
}
