package deed

import "tabrelay/relay/road/untrusted"

// something is what has no kind that a person would name.
const something = "part of the page"

// kinds are the roles of things that people call otherwise.
var kinds = map[string]string{
	"alertdialog": "dialog", "application": something, "banner": "page header", "canvas": "drawing area",
	"clickable": something, "colour": "colour field", "columnheader": "column heading", "combobox": "drop-down list",
	"complementary": "sidebar", "contentinfo": "page footer", "date": "date field", "datetime": "date and time field",
	"draggable": something, "embedded": something, "file": "file field", "generic": something, "grid": "table",
	"gridcell": "table cell", "group": something, "handle": "handle", "iframe": "frame", "img": "picture",
	"image": "picture", "listbox": "list", "listitem": "list item", "menubar": "menu bar", "menuitem": "menu item",
	"menuitemcheckbox": "menu item", "menuitemradio": "menu item", "month": "month field",
	"password": "password field", "progressbar": "progress bar", "radio": "option", "radiogroup": "group of options",
	"region": something, "rowheader": "row heading", "searchbox": "search field", "separator": "divider",
	"spinbutton": "number field", "summary": "heading that opens and closes", "tablist": "row of tabs",
	"tabpanel": "tab panel", "textbox": "text field", "time": "time field", "treegrid": "table",
	"treeitem": "tree item", "week": "week field",
}

// kind is what a person would call a thing of its role.
func (t *target) kind() string {
	if kind, ok := kinds[t.Role]; ok {
		return kind
	}
	if role := untrusted.Name(t.Role, maxName); role != "" {
		return role
	}
	return something
}

// fields are roles of what one writes in; keys are pressed on everything else.
var fields = map[string]bool{"textbox": true, "searchbox": true, "combobox": true, "spinbutton": true,
	"password": true, "date": true, "datetime": true, "month": true, "time": true, "week": true, "listbox": true}

// where is where a key is pressed.
func (t *target) where() string {
	if t == nil || t.Words != "" || fields[t.Role] {
		return " in " + t.named()
	}
	return " on " + t.named()
}
