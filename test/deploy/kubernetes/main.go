// Command kubernetes decodes the objects on its standard input, as YAML documents, by the types of a release of Kubernetes, strictly: a
// field that the release does not know is an error. Each release has a module file, which names the version of k8s.io/api:
//
//	helm template … | go run -modfile=1.30.mod .
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

var kinds = map[string]func() any{
	"apps/v1 StatefulSet":                    func() any { return new(appsv1.StatefulSet) },
	"apps/v1 Deployment":                     func() any { return new(appsv1.Deployment) },
	"batch/v1 Job":                           func() any { return new(batchv1.Job) },
	"v1 Service":                             func() any { return new(corev1.Service) },
	"v1 ServiceAccount":                      func() any { return new(corev1.ServiceAccount) },
	"v1 Secret":                              func() any { return new(corev1.Secret) },
	"v1 ConfigMap":                           func() any { return new(corev1.ConfigMap) },
	"v1 PersistentVolumeClaim":               func() any { return new(corev1.PersistentVolumeClaim) },
	"policy/v1 PodDisruptionBudget":          func() any { return new(policyv1.PodDisruptionBudget) },
	"autoscaling/v2 HorizontalPodAutoscaler": func() any { return new(autoscalingv2.HorizontalPodAutoscaler) },
	"networking.k8s.io/v1 NetworkPolicy":     func() any { return new(networkingv1.NetworkPolicy) },
	"networking.k8s.io/v1 Ingress":           func() any { return new(networkingv1.Ingress) },
}

var separator = regexp.MustCompile(`(?m)^---\s*$`)

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = decode(text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// decode decodes all documents. Kinds of operators, such as ServiceMonitor, are not part of Kubernetes and are left out.
func decode(text []byte) error {
	var problems []error
	n := 0
	for _, document := range separator.Split(string(bytes.ReplaceAll(text, []byte("\r"), nil)), -1) {
		var head struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal([]byte(document), &head); err != nil {
			return err
		}
		if head.Kind == "" || strings.HasPrefix(head.APIVersion, "monitoring.coreos.com/") {
			continue
		}
		fresh, ok := kinds[head.APIVersion+" "+head.Kind]
		if !ok {
			problems = append(problems, fmt.Errorf("unknown kind: %s %s", head.APIVersion, head.Kind))
			continue
		}
		n++
		if err := yaml.UnmarshalStrict([]byte(document), fresh()); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", head.Kind, err))
		}
	}
	if n == 0 {
		problems = append(problems, errors.New("there are no objects"))
	}
	if len(problems) == 0 {
		fmt.Printf("%d objects\n", n)
	}
	return errors.Join(problems...)
}
