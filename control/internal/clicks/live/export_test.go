package live

// ParseCursor gives tests the parser of cursors.
var ParseCursor = parseCursor
