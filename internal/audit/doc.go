// Package audit tries to refute the claims of a configuration: [Plan] those of an evaluation, by
// package internal/evaluate/examine, and [Training] those of the reports of a training run, by
// package internal/train/examine. It opens no data and no ledger, and releases nothing.
package audit
