// Package chromium opens pages in a real Chromium, for the tests of what people look at.
//
// Start with [Start]; it fails with [ErrUnavailable] where there is no Chromium. A test
// should then skip loudly, and fail where [Required] says so. [Browser.Look] loads a page
// in a window of a size and a colour scheme and tells what is wrong with it: what the
// console of the browser said, what sticks out of the window, and what the rules of
// axe-core find that is serious.
package chromium
