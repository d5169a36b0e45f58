package price_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/motorpool/fleet"
)

// says is what an error tells people.
func says(err error) string {
	var e *fleet.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	var words []string
	for _, f := range e.Fields {
		words = append(words, fmt.Sprintf("%s %s", f.Pointer, f.Detail))
	}
	return strings.Join(words, "; ")
}
