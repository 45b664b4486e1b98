// Package hardware runs scenarios on real queue pairs and real faults, and
// leaves the same run directory as a simulation.
package hardware
