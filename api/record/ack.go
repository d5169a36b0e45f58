package record

// AlertAck says that somebody has taken note of an alert. Its id is the alert's, so that an alert has one at most; who
// and when are those of its first revision.
type AlertAck struct {
	VehicleID string `json:"vehicle_id,omitempty"` // the alert's
	Note      string `json:"note,omitempty"`
	By        string `json:"by"` // the actor, as in the log
}

// AlertAcks describes the kind.
var AlertAcks = Kind[AlertAck]{Name: "alert_ack", Prefix: "alr_"}
