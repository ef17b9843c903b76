package source

// A Problem is the body of an answer that refuses.
type Problem struct {
	Error string `json:"error"`
	// Path is the JSON path of the fault, Offset its place in bytes.
	Path   string `json:"path,omitempty"`
	Offset int64  `json:"offset,omitempty"`
	// Receipt is set where the events were taken, but can't be read yet.
	Receipt string `json:"receipt,omitempty"`
}

// A Warning says what of an accepted event was left out.
type Warning struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// An Accepted is the body of an answer to one event.
type Accepted struct {
	Receipt  string    `json:"receipt"`
	Warnings []Warning `json:"warnings,omitempty"`
}

// A BatchAnswer is the body of an answer to a batch; its form is
// OpenLineage's (spec/OpenLineage.yml, /lineage/batch), with the receipt and
// warnings added.
type BatchAnswer struct {
	Status  string       `json:"status"`
	Summary BatchSummary `json:"summary"`
	// Failed and Warnings list the first 1,000 at most.
	Failed  []FailedEvent `json:"failed_events"`
	Receipt string        `json:"receipt,omitempty"`
	// Error says why the whole batch was refused.
	Error    string         `json:"error,omitempty"`
	Warnings []BatchWarning `json:"warnings,omitempty"`
}

// A BatchSummary counts the events of a batch.
type BatchSummary struct {
	Received     int `json:"received"`
	Successful   int `json:"successful"`
	Failed       int `json:"failed"`
	Retriable    int `json:"retriable"`
	NonRetriable int `json:"non_retriable"`
}

// A FailedEvent says which event of a batch was not taken, and why.
type FailedEvent struct {
	Index     int    `json:"index"`
	Reason    string `json:"reason"`
	Retriable bool   `json:"retriable"`
}

// A BatchWarning says what of an accepted event of a batch was left out.
type BatchWarning struct {
	Index int `json:"index"`
	Warning
}
