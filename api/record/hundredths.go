package record

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// Hundredths is a quantity that is kept to two decimals, so that money stays whole; 150 is written 1.5.
type Hundredths int64

// MarshalJSON writes a number of at most two decimals.
func (q Hundredths) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(q)/100, 'f', -1, 64), nil
}

// UnmarshalJSON reads a number and rounds it.
func (q *Hundredths) UnmarshalJSON(text []byte) error {
	var v float64
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	if v = math.Round(v * 100); math.Abs(v) > 1e15 {
		return fmt.Errorf("%s is too large a quantity", text)
	}
	*q = Hundredths(v)
	return nil
}

// Schema implements huma.SchemaProvider.
func (Hundredths) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: huma.TypeNumber} }
