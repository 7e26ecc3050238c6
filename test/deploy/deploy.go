// Package deploy tests the deployment files: the images, docker compose, the Helm chart, and the documents for operators.
// It contains only tests.
//
// The tests need neither a container engine nor a cluster. Each file is parsed by the library of its own tool. The commands
// of the Dockerfiles run in a copy of the build context. Every container's environment is checked by the program that it
// would start. The tests do not cover third-party images: whether their tags exist, and how they treat our settings.
//
// The module is not in the workspace (GOWORK=off go test ./...). Otherwise the libraries of Helm, Kubernetes and BuildKit
// would determine the versions of dependencies that the programs ship with.
package deploy
