package deploy_test

import (
	"encoding/json"
	"flag"
	"os"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/shortline/shortline/shared/testing/testkit"
)

const releasedObjects = "test/deploy/testdata/chart-released.json"

var keepObjects = flag.Bool("released", false, "write "+releasedObjects+" for a release of the chart")

// fixed returns what Kubernetes refuses to change in an object, or what others depend on. An upgrade that changes it fails, or
// leaves pods without their volumes. The migration is a hook, whose job is deleted before each upgrade.
func fixed(object any) any {
	switch o := object.(type) {
	case *appsv1.StatefulSet:
		return map[string]any{"selector": o.Spec.Selector, "service": o.Spec.ServiceName, "management": o.Spec.PodManagementPolicy,
			"claims": o.Spec.VolumeClaimTemplates}
	case *appsv1.Deployment:
		return o.Spec.Selector
	case *corev1.PersistentVolumeClaim:
		return o.Spec
	case *corev1.Service:
		ports := map[string]int32{}
		for _, p := range o.Spec.Ports {
			ports[p.Name] = p.Port
		}
		return map[string]any{"clusterIP": o.Spec.ClusterIP, "ports": ports}
	case *corev1.Secret:
		return o.Type
	}
	return nil
}

// An installation is upgraded from the chart before without deleting an object by hand: with the same values, all its workloads,
// services, claims and secrets are still there, and what Kubernetes does not let change is the same.
func TestChart_upgrade_keeps_what_cannot_change(t *testing.T) {
	t.Parallel()
	now := map[string]map[string]string{}
	for _, name := range examples {
		now[name] = map[string]string{}
		for key, object := range render(t, name).objects {
			if f := fixed(object); f != nil {
				text, err := json.Marshal(f)
				testkit.Must(t, err)
				now[name][key] = string(text)
			}
		}
	}
	path := source(t, releasedObjects)
	if *keepObjects {
		text, err := json.MarshalIndent(now, "", "  ")
		testkit.Must(t, err)
		testkit.Must(t, os.WriteFile(path, append(text, '\n'), 0o644))
	}
	var before map[string]map[string]string
	testkit.Must(t, json.Unmarshal([]byte(read(t, releasedObjects)), &before))
	if len(before) < 7 {
		t.Fatalf("the chart before has only %d examples", len(before))
	}
	for name, objects := range before {
		for key, was := range objects {
			if is := now[name][key]; is != was {
				t.Errorf("%s: %s was\n%s\nand is now\n%s", name, key, was, is)
			}
		}
	}
}
