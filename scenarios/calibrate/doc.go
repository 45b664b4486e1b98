// Package calibrate fits the simulated NIC and link to a measured run: it
// simulates the run's own scenario with other values until its messages take
// as long, and come as fast, as the measured ones did.
//
// What the run does not determine is said to be undetermined and stays as it
// is; what it determines has a confidence interval.
package calibrate
