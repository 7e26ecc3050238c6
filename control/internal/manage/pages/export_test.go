package pages

// Waiting returns the number of sites whose icons are to be fetched.
func (s *Service) Waiting() int { return len(s.icons.waiting) }
