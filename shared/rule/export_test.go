package rule

// Fields is the number of fields.
const Fields = fieldCount

// Scanners is how many fields of a set are decided by a scanner.
func (s *Set) Scanners() int { return len(s.scanners) }
