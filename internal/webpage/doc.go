// Package webpage is what the pages of the services share: the frame and the style of a
// page, and its headers. Pages are plain HTML that works without a script, in light and
// dark, from 400 pixels up, and that asks no other host for anything.
//
// Start with [Parse] for the templates of a service, whose views embed [Frame], and
// [Show]. html/template escapes every text that a person wrote.
package webpage
