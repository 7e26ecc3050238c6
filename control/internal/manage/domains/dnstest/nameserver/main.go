// Command nameserver runs the DNS server for tests as a process.
//
// It prints its address. Each line of its input sets the records of a name, as JSON: {"name": "go.example.com", "records":
// ["CNAME edge.sho.rt."]}. It answers each line with "ok" or an error, and ends with its input.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/shortline/shortline/control/internal/manage/domains/dnstest"
)

func main() {
	s, err := dnstest.Start()
	if err != nil {
		log.Fatal(err)
	}
	defer s.Stop()
	fmt.Println(s.Addr)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var set struct {
			Name    string
			Records []string
		}
		err := json.Unmarshal(lines.Bytes(), &set)
		if err == nil {
			err = s.Put(set.Name, set.Records...)
		}
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println("ok")
	}
}
