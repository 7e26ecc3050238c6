package cli

var Canceled = canceled
