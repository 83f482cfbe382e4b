package scale

import "crypto/sha256"

func hashOf(text []byte) Hash { return sha256.Sum256(text) }
