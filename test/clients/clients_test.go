// Package clients_test generates clients from the OpenAPI document that a standalone serves, with generators of other makers and
// their default settings. It compiles each client, and drives a session with it against that standalone. Linters of other makers
// check the document. Everything is generated into folders of the tests. With our own client, it calls every operation.
package clients_test

import (
	"cmp"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	// The generated client imports these packages. The test does not, but its module pins their versions.
	_ "github.com/getkin/kin-openapi/openapi3"
	_ "github.com/labstack/echo/v4"
	_ "github.com/oapi-codegen/runtime"

	"github.com/shortline/shortline/shared/testing/testkit"
)

const adminPassword = "correct horse battery"

// Two linters find no error. Spectral finds no warning, either. Redocly warns about redirects, which have no 2xx, and about
// /api/urls/by-external-id/{externalId}, which could be taken for /api/urls/{id}/….
func TestD6_linters_find_no_error(t *testing.T) {
	t.Parallel()
	in := start(t)
	t.Run("redocly", func(t *testing.T) {
		t.Parallel()
		in.node(t, in.dir, "@redocly/cli/bin/cli.js", "lint", "--extends=recommended", "--format=stylish", in.document)
	})
	t.Run("spectral", func(t *testing.T) {
		t.Parallel()
		rules := testkit.Source(t, "test/clients/spectral.yaml")
		in.node(t, in.dir, "@stoplight/spectral-cli/dist/index.js", "lint", "--fail-severity=warn", "--ruleset", rules, in.document)
	})
}

// Clients of three generators with their default settings compile, and drive a session.
func TestD6_generated_clients_compile_and_drive_a_session(t *testing.T) {
	t.Parallel()
	in := start(t)
	t.Run("go", func(t *testing.T) {
		t.Parallel()
		dir := in.session(t, "main.go")
		for _, name := range []string{"go.mod", "go.sum"} {
			in.copy(t, filepath.Join(dir, name), name)
		}
		in.run(t, dir, goCommand(), "mod", "edit", "-replace=github.com/shortline/shortline/shared="+testkit.Source(t, "shared"))
		testkit.Must(t, os.Mkdir(filepath.Join(dir, "api"), 0o755))
		in.run(t, dir, goCommand(), "tool", "oapi-codegen", "-package=api", "-o=api/api.go", in.document)
		in.run(t, dir, goCommand(), "run", "-trimpath", ".")
	})
	t.Run("typescript", func(t *testing.T) {
		t.Parallel()
		dir := in.session(t, "session.ts")
		in.node(t, dir, "openapi-typescript/bin/cli.js", in.document, "--output=schema.d.ts")
		in.node(t, dir, "typescript/bin/tsc", "--strict", "--target", "es2022", "--module", "es2022",
			"--moduleResolution", "bundler", "session.ts")
		testkit.Must(t, os.Rename(filepath.Join(dir, "session.js"), filepath.Join(dir, "session.mjs")))
		in.run(t, dir, in.web, "exec", "node", "session.mjs")
	})
	t.Run("python", func(t *testing.T) {
		t.Parallel()
		dir := in.session(t, "session.py")
		python := filepath.Join(in.tools, "python", "bin", "python")
		in.run(t, dir, python, "-m", "openapi_python_client", "generate", "--path", in.document, "--output-path", "client")
		in.run(t, dir, python, "-m", "compileall", "-q", "client")
		in.run(t, dir, python, "session.py")
	})
}

// installation is a running standalone, with its document and the tools that read it.
type installation struct {
	dir, document string
	base          string
	tools, web    string
}

// start runs a standalone with settings, and gets its document and the tools.
func start(t *testing.T, settings ...string) *installation {
	t.Helper()
	in := standalone(t, settings...)
	parts := exec.Command(testkit.Source(t, "test/clients/parts"), "folder")
	var problem testkit.Buffer
	parts.Stderr = &problem
	folder, err := parts.Output()
	if err != nil {
		t.Fatalf("the linters and generators cannot be installed: %v\n%s", err, problem.String())
	}
	in.tools = strings.TrimSpace(string(folder))
	return in
}

// standalone starts a standalone with additional NAME=value settings.
func standalone(t *testing.T, env ...string) *installation {
	t.Helper()
	program, err := testkit.Release("standalone")
	testkit.Must(t, err)
	dir, addr, ops := t.TempDir(), testkit.FreeAddr(t), testkit.FreeAddr(t)
	in := &installation{
		dir: dir, document: filepath.Join(dir, "openapi.json"), base: "http://" + addr, web: testkit.Source(t, "deploy/dev/web"),
	}
	cmd := exec.Command(program)
	output := &testkit.Buffer{}
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	// With the same BASE_URL each time, the document and the clients are the same, and the build cache has them.
	cmd.Env = append(os.Environ(), "BASE_URL=http://sho.example", "LISTEN_ADDR="+addr, "OPS_ADDR="+ops,
		"DATA_DIR="+dir+"/data", "ADMIN_PASSWORD="+adminPassword, "RATE_LIMIT_DEFAULT=0")
	cmd.Env = append(append(cmd.Env, testkit.LongRequests...), env...)
	testkit.Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Logf("output of standalone:\n%s", output.String())
		}
	})
	testkit.Eventually(t, "standalone serves its document", func() bool {
		res, err := http.Get(in.base + "/api/openapi.json")
		if err != nil {
			return false
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		return err == nil && res.StatusCode == http.StatusOK && os.WriteFile(in.document, text, 0o600) == nil
	})
	return in
}

// session returns a new folder with a program of testdata.
func (in *installation) session(t *testing.T, name string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	in.copy(t, filepath.Join(dir, name), "testdata/"+name)
	return dir
}

func (in *installation) copy(t *testing.T, to, from string) {
	t.Helper()
	text, err := os.ReadFile(from)
	testkit.Must(t, err)
	testkit.Must(t, os.WriteFile(to, text, 0o600))
}

// node runs a script of an npm package.
func (in *installation) node(t *testing.T, dir, script string, args ...string) {
	t.Helper()
	in.run(t, dir, in.web, append([]string{"exec", "node", filepath.Join(in.tools, "node_modules", script)}, args...)...)
}

// run runs a program that must succeed. A session learns from its environment where the standalone is.
func (in *installation) run(t *testing.T, dir, program string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "BASE_URL="+in.base, "ADMIN_PASSWORD="+adminPassword, "GOWORK=off", "GOFLAGS=",
		"PYTHONPATH="+filepath.Join(dir, "client"), "PATH="+filepath.Join(in.tools, "python", "bin")+":"+os.Getenv("PATH"),
		"NO_COLOR=1", "REDOCLY_TELEMETRY=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
}

func goCommand() string { return cmp.Or(os.Getenv("GO"), "go") }
