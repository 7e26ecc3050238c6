package link

import (
	"errors"
	"net/url"
	"strings"
)

// ParseBaseURL reads BASE_URL, the address that visitors and link owners use: an http or https URL without a path, user,
// query or fragment, because links are at the root. Slashes at the end are dropped. The error names the setting.
func ParseBaseURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" ||
		u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, errors.New("BASE_URL: must be an http or https address without a path, user, query or fragment, such as https://sho.rt")
	}
	u.Path, u.RawPath = "", ""
	return u, nil
}
