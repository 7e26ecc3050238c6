// Command hello is built by the test of testkit.Program.
package main

import "fmt"

func main() { fmt.Println("hello") }
