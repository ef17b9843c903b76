package api

//go:generate go tool gqlgen
