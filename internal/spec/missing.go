package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Values of data.missing beside reject, zero and mean: the middle of the public range of a feature,
// and that with a further observation, which says that it was missing.
const (
	missingMiddle    = "mean_of_range"
	missingIndicator = "indicator"
	suffixMissing    = "_missing"
)

// readMissing reads what becomes of missing observations.
func readMissing(c config.Config, o *trajectory.Options) error {
	means, err := meansAsRead(c.Data.Means, o.Observations)
	if err != nil {
		return err
	}
	c.Data.Means, o.Means = means, means
	switch missingRule(c) {
	case "reject":
	case "zero":
		o.Missing = trajectory.MissingZero
	case "mean":
		o.Missing = trajectory.MissingMean
		if repairs(c) || complete(c) {
			return checkMeans(c, o)
		}
	case missingMiddle:
		return readMiddles(c, o)
	case missingIndicator:
		return readIndicators(c, o)
	default:
		return fmt.Errorf("%w: data.missing is %q; want reject, zero, mean, mean_of_range or indicator", config.ErrConfig, c.Data.Missing)
	}
	return nil
}

// meansAsRead are public means by the names of the observations that are read: a column has one name with obs_ and
// one without.
func meansAsRead(means map[string]float64, read []string) (map[string]float64, error) {
	out := maps.Clone(means)
	for _, name := range read {
		other, prefixed := strings.CutPrefix(name, "obs_")
		if !prefixed {
			other = "obs_" + name
		}
		mean, given := means[other]
		if !given {
			continue
		}
		if m, both := means[name]; both && m != mean {
			return nil, fmt.Errorf("%w: data.means has different numbers for %s and %s, which are one column; leave one of them out", config.ErrConfig, name, other)
		}
		out[name] = mean
	}
	return out, nil
}

// decidingColumns are the observations of which a missing one does not become 0: those that number states or
// cells, of which 0 is one, and, where nothing says what a missing one becomes, what policies read, and that by
// which a rule is learned, probabilities are fitted or outcomes are adjusted: who is missing there may follow from
// what came of it.
func decidingColumns(c config.Config, policies ...policy.Policy) (names []string) {
	if missingRule(c) != "zero" {
		return nil
	}
	b := c.Data.Behavior
	if b != nil && b.Column != "" {
		names = append(names, b.Column)
	}
	for _, t := range policiesAsked(c) {
		if t.Column != "" {
			names = append(names, t.Column)
		}
	}
	f := c.Features
	if f != nil && f.Column != "" {
		names = append(names, f.Column)
	}
	if c.Data.Missing != "" {
		return names
	}
	for _, p := range policies {
		names = append(names, columnsOf(p)...)
	}
	m, err := evaluate.MethodNamed(c.Method.Name)
	if decides := err == nil && (m.Learns || m.NeedArms) || b != nil && b.By != ""; decides && f != nil {
		names = append(names, f.Names...)
	}
	return names
}

// decides tells whether there are such observations.
func decides(c config.Config) bool {
	read := c.Data.Behavior != nil && c.Data.Behavior.Path != "" || slices.ContainsFunc(policiesAsked(c), func(t config.Target) bool { return t.Path != "" })
	return decidingColumns(c) != nil || read && repairs(c) && c.Data.Missing == ""
}

// checkMeans asks for the public mean of every observation before the data are
// opened: to fail at the first missing value would tell of it.
func checkMeans(c config.Config, o *trajectory.Options) error {
	for _, name := range o.Observations {
		v, encoded := vocabularyOf(c, name)
		if _, ok := o.Means[name]; ok || slices.Contains(o.Whole, name) || v.Other || o.Indicators && indicates(name) {
			continue
		}
		switch {
		case c.Data.Missing == "mean":
			return fmt.Errorf("%w: data.missing is mean, and data.means has no public mean of %s; give it", config.ErrConfig, name)
		case encoded && !isOneHot(c, name):
			return fmt.Errorf("%w: data.missing is %s, and numbers of %s stand for words, of which the middle may be one; give the vocabulary a category for missing values (other: true), or a public number in data.means", config.ErrConfig, c.Data.Missing, name)
		}
		return fmt.Errorf("%w: data.missing is %s, and features has no public range of %s; give its low and high, or a public number in data.means", config.ErrConfig, c.Data.Missing, name)
	}
	return nil
}

// readMiddles has a missing value replaced by the middle of its public range; one-hot columns
// are then all 0, and a column without a range has its number in data.means.
func readMiddles(c config.Config, o *trajectory.Options) error {
	o.Missing = trajectory.MissingMean
	given := c.Data.Means
	if o.Means = maps.Clone(given); o.Means == nil {
		o.Means = map[string]float64{}
	}
	for name, middle := range middles(c) {
		if _, both := given[name]; both {
			return fmt.Errorf("%w: data.means has a number for %s, and data.missing is %s, by which it is the middle of its range; leave one of them out", config.ErrConfig, name, c.Data.Missing)
		}
		o.Means[name] = middle
	}
	return checkMeans(c, o)
}

// middles are those of the public ranges of features.
func middles(c config.Config) map[string]float64 {
	out := map[string]float64{}
	if f := c.Features; f != nil {
		for i, name := range f.Names {
			_, encoded := vocabularyOf(c, name)
			switch {
			case encoded && !isOneHot(c, name): // whose middle may be a word
			case isOneHot(c, name), len(f.Scale) > 0:
				out[name] = 0
			case i < len(f.Low) && i < len(f.High):
				out[name] = f.Low[i] + (f.High[i]-f.Low[i])/2
			}
		}
	}
	return out
}

// vocabularyOf is that of an observation, or of the one that it is a one-hot column of.
func vocabularyOf(c config.Config, name string) (config.Vocabulary, bool) {
	if key, ok := oneHotOf(c, name); ok {
		return c.Data.Encode[key], true
	}
	bare := strings.TrimPrefix(name, "obs_")
	for _, key := range []string{bare, "obs_" + bare} {
		if v, ok := c.Data.Encode[key]; ok {
			return v, true
		}
	}
	return config.Vocabulary{}, false
}

// isOneHot tells whether an observation is the one-hot column of a word.
func isOneHot(c config.Config, name string) bool {
	_, ok := oneHotOf(c, name)
	return ok
}

// oneHotOf is the observation of which another is the one-hot column.
func oneHotOf(c config.Config, name string) (string, bool) {
	bare := strings.TrimPrefix(name, "obs_")
	for key, v := range c.Data.Encode {
		for i := range v.Words {
			if v.OneHot && strings.TrimPrefix(trajectory.Vocabulary(v).Column(key, i), "obs_") == bare {
				return key, true
			}
		}
	}
	return "", false
}

// readIndicators reads the indicators that features and policies name, and what they are of.
// In complete data nothing else is replaced: with its indicator a missing value is an
// observation, by itself it is a loss.
func readIndicators(c config.Config, o *trajectory.Options) error {
	o.Indicators = true
	if f := c.Features; f != nil && len(f.Names) > 0 && !slices.ContainsFunc(f.Names, indicates) {
		return fmt.Errorf("%w: data.missing is indicator, and features.names has no indicator, such as %s%s; add one, or say mean_of_range", config.ErrConfig, f.Names[0], suffixMissing)
	}
	bare := func(name string) string { return strings.TrimPrefix(name, "obs_") }
	of, unread := map[string]bool{}, map[string]float64{} // whose values nobody reads
	maps.Copy(unread, c.Data.Means)
	for _, name := range o.Observations {
		if !indicates(name) {
			continue
		}
		base := strings.TrimSuffix(name, suffixMissing)
		of[bare(base)] = true
		read := slices.ContainsFunc(o.Observations, func(n string) bool {
			key, hot := oneHotOf(c, n)
			return bare(n) == bare(base) || hot && bare(key) == bare(base)
		})
		if !read {
			for key, v := range c.Data.Encode {
				if v.OneHot && bare(key) == bare(base) {
					base = trajectory.Vocabulary(v).Column(base, 0)
				}
			}
			o.Observations, unread[base] = append(slices.Clone(o.Observations), base), 0
		}
	}
	if complete(c) {
		for _, name := range o.Observations {
			base := bare(name)
			if key, hot := oneHotOf(c, name); hot {
				base = bare(key)
			}
			if !of[base] && !indicates(name) && !slices.Contains(o.Whole, name) {
				o.Whole = append(o.Whole, name)
			}
		}
	}
	c.Data.Means = unread
	return readMiddles(c, o)
}

// indicates tells whether a name is that of an indicator.
func indicates(name string) bool { return strings.HasSuffix(name, suffixMissing) }
