// Command idp runs the identity provider for tests as a process that can be stopped, slowed down and restarted.
//
// In addition to the protocol, it has endpoints for tests: POST /test/rotate, /test/fault?is=slow, and /test/person
// with a person as JSON ({"sub", "email", "email_verified", "name"}).
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"

	"github.com/shortline/shortline/control/internal/platform/idptest"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address to listen on")
	email := flag.String("email", "admin@example.com", "the verified email of the person who signs in")
	entra := flag.Bool("entra", false, "send no email_verified, as Microsoft Entra ID does")
	flag.Parse()
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	who := idptest.Person{Subject: *email, Email: *email, Verified: true}
	if *entra {
		who.Verified = nil
	}
	p := idptest.New("http://"+l.Addr().String(), who)
	mux := http.NewServeMux()
	mux.Handle("/", p)
	mux.HandleFunc("POST /test/rotate", func(http.ResponseWriter, *http.Request) { p.Rotate() })
	mux.HandleFunc("POST /test/fault", func(_ http.ResponseWriter, r *http.Request) { p.Fail(idptest.Fault(r.URL.Query().Get("is"))) })
	mux.HandleFunc("POST /test/person", func(w http.ResponseWriter, r *http.Request) {
		var who idptest.Person
		if err := json.NewDecoder(r.Body).Decode(&who); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if *entra {
			who.Verified = nil
		}
		p.Be(who)
	})
	fmt.Printf("issuer %s client %q secret %q\n", p.Issuer, idptest.ClientID, idptest.ClientSecret)
	log.Fatal(http.Serve(l, mux)) //nolint:gosec // for tests only
}
