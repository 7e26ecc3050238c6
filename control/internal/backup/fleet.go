package backup

// FleetFacts is what a fleet's backup says beyond its files.
type FleetFacts struct {
}
