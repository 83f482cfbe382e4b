package ledger_test

// roleVariable names the environment variable that makes the test binary a helper
// process.
const roleVariable = "DISCREET_LEDGER_TEST_ROLE"

func helper(role string) int { return 2 }
