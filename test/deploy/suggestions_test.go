package deploy_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

// By default, suggestions for campaign names come only from the user's own links in all production templates. Each template
// has a setting to share them.
func TestLow_UTMSuggestionsAreNotSharedInProduction(t *testing.T) {
	t.Parallel()
	const setting = "UTM_SUGGESTIONS_SHARED"
	for want, env := range map[string]map[string]string{"false": nil, "true": {setting: "true"}} {
		controls := 0
		for name, s := range project(t, env).Services {
			if s.Environment["ROLES"] == nil {
				continue
			}
			controls++
			if got := s.Environment[setting]; got == nil || *got != want {
				t.Errorf("compose: %s gets %s=%v, want %s", name, setting, got, want)
			}
		}
		if controls == 0 {
			t.Error("compose has no control plane")
		}
	}
	for _, name := range examples {
		for pod, d := range all[*appsv1.Deployment](render(t, name)) {
			env := map[string]string{}
			for _, e := range d.Spec.Template.Spec.Containers[0].Env {
				env[e.Name] = e.Value
			}
			if env["ROLES"] != "" && env[setting] != "false" {
				t.Errorf("chart (%s): %s gets %s=%q", name, pod, setting, env[setting])
			}
		}
	}
}
