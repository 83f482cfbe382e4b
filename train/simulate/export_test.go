package simulate

// EnvironmentOf lets tests count who lives where.
func (c *Config) EnvironmentOf(agent uint64) int { return c.environmentOf(agent) }
