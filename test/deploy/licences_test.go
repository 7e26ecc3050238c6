package deploy_test

import (
	"bytes"
	"os"
	"testing"
)

// DuckDB's libraries contain the generators of two benchmarks, whose licence forbids redistribution. The linker leaves
// them out because nothing references them. A string that only they contain would reveal them.
func TestLicences_no_benchmark_of_TPC_is_linked_in(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(program(t, "standalone"))
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"theodolites", "store_returns"} { // of TPC-H, of TPC-DS
		if bytes.Contains(b, []byte(word)) {
			t.Errorf("standalone contains %q", word)
		}
	}
}
