package record

import "github.com/motorpool/fleet"

// TripSettings change how trips are found. What is left out stays as it is: for a vehicle as its account says, for an
// account as the system's defaults say.
type TripSettings struct {
	StopAfterS     *float64 `json:"stop_after_s,omitempty" minimum:"10" maximum:"86400" doc:"Standing for so long is a stop." example:"300"`
	StartDistanceM *float64 `json:"start_distance_m,omitempty" minimum:"5" maximum:"10000" doc:"Leaving this radius is a trip,"`
	StartAfterS    *float64 `json:"start_after_s,omitempty" minimum:"0" maximum:"3600" doc:"and so is moving for so long."`
	NoDataS        *float64 `json:"no_data_s,omitempty" minimum:"30" maximum:"604800" doc:"Silence from which on nothing is known; a way across it is estimated. A device may have its own. Unless given: three of the tracker's own intervals as they are learnt from its fixes, at least 300."`
	SplitS         *float64 `json:"split_s,omitempty" minimum:"60" maximum:"2592000" doc:"Silence that ends a trip."`
	StartSpeedMph  *float64 `json:"start_speed_mph,omitempty" minimum:"0.1" maximum:"60" doc:"From this speed on a vehicle is moving."`
	StopSpeedMph   *float64 `json:"stop_speed_mph,omitempty" minimum:"0.1" maximum:"60" doc:"Below this speed a vehicle is standing."`
	UseIgnition    *bool    `json:"use_ignition,omitempty" doc:"Whether its ignition is believed."`
}

// Faults says which of the settings contradict each other.
func (s *TripSettings) Faults() []fleet.FieldError {
	if s == nil {
		return nil
	}
	var faults []fleet.FieldError
	if s.StopSpeedMph != nil && s.StartSpeedMph != nil && *s.StopSpeedMph > *s.StartSpeedMph {
		faults = append(faults, fleet.FieldError{Pointer: "/trip_settings/stop_speed_mph", Code: "invalid",
			Detail: "must not be above start_speed_mph"})
	}
	if s.SplitS != nil && s.NoDataS != nil && *s.SplitS < *s.NoDataS {
		faults = append(faults,
			fleet.FieldError{Pointer: "/trip_settings/split_s", Code: "invalid", Detail: "must not be below no_data_s"})
	}
	return faults
}
