package oauth

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/motorpool/fleet/api/auth"
)

// A form has each parameter once, and none that is empty, whatever is sent.
func FuzzReadForm(f *testing.F) {
	for _, text := range []string{"a=b&c=d", "a=b&a=b", "a=&a=", "resource=a&resource=b", "%zz", "a;b=c", "=", "a=%00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		form, err := readForm(text, "resource")
		if err != nil {
			if e := err.(*refused); strings.ContainsAny(e.Description, "\"\\\r\n") {
				t.Errorf("told %q", e.Description)
			}
			return
		}
		for name, values := range form {
			if name != "resource" && (len(values) != 1 || values[0] == "") {
				t.Errorf("%q has %q", name, values)
			}
		}
	})
}

// A person is sent to an address of the client alone: the very same, or the same on another port of this machine.
func FuzzRedirectsTo(f *testing.F) {
	for _, text := range []string{"https://app.example/back?tab=1", "http://127.0.0.1:80@evil.example/done",
		"com.example.app:/b", "http://[::1]:99/done", "http://127.0.0.1:/done", "javascript:alert(1)",
		"http://127.0.0.1/done#a", "//evil.example"} {
		f.Add(text, "http://127.0.0.1/done")
		f.Add("http://127.0.0.1:1/done", text)
	}
	f.Fuzz(func(t *testing.T, text, registered string) {
		if badRedirect(registered) != "" || !redirectsTo([]string{registered}, text) || text == registered {
			return
		}
		a, err1 := url.Parse(text)
		b, err2 := url.Parse(registered)
		if err1 != nil || err2 != nil || badRedirect(text) != "" || !loopbackIP(a) || a.Scheme != "http" ||
			a.Hostname() != b.Hostname() || a.EscapedPath() != b.EscapedPath() || a.RawQuery != b.RawQuery || a.User != nil {
			t.Errorf("%q is taken for %q", text, registered)
		}
	})
}

// What is asked for is given only of what may be.
func FuzzScopesAsked(f *testing.F) {
	for _, text := range []string{"vehicles:read", "vehicles:read admin", "admin", "a,b", " ",
		"vehicles:read,bookings:read"} {
		f.Add(text)
	}
	may := []string{string(auth.VehiclesRead), string(auth.BookingsRead)}
	f.Fuzz(func(t *testing.T, text string) {
		scopes, err := scopesAsked(text, may)
		for _, s := range scopes {
			if err == nil && !slices.Contains(may, s) {
				t.Errorf("%q gives %s", text, s)
			}
		}
	})
}
