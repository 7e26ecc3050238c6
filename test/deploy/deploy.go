// Package deploy tests what Shortline is deployed with: the images, docker compose, the Helm chart, and the operator's
// documents. It holds nothing but tests.
//
// Neither a container engine nor a cluster is needed. Each file is read by the library that its own tool is made
// of, the commands of the Dockerfiles are run by hand in what the build context would hold, and every container's
// environment is given to the program that it would start, which checks it. So what these tests leave open is the
// images of others: whether their tags exist, and what they do with the settings that we give them.
//
// The module stays out of the workspace (GOWORK=off go test ./...): the libraries of Helm, Kubernetes and BuildKit
// would otherwise choose versions for the programs that are shipped.
package deploy
