package adapters

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tabrelay/relay/road/plugin"
)

// What @playwright/mcp 0.0.83 lists with --caps=vision,pdf,testing,tracing,network,storage,devtools,config.
const playwrightTools = `browser_close browser_resize browser_get_config browser_console_messages browser_cookie_list
browser_cookie_get browser_cookie_set browser_cookie_delete browser_cookie_clear browser_resume browser_highlight
browser_hide_highlight browser_annotate browser_handle_dialog browser_emulate_media browser_evaluate
browser_file_upload browser_drop browser_find browser_fill_form browser_press_key browser_type browser_mouse_move_xy
browser_mouse_click_xy browser_mouse_drag_xy browser_mouse_down browser_mouse_up browser_mouse_wheel browser_navigate
browser_navigate_back browser_network_requests browser_network_request browser_network_state_set browser_pdf_save
browser_start_recording browser_stop_recording browser_route browser_route_list browser_unroute
browser_run_code_unsafe browser_take_screenshot browser_snapshot browser_click browser_drag browser_hover
browser_select_option browser_generate_locator browser_storage_state browser_set_storage_state browser_tabs
browser_start_tracing browser_stop_tracing browser_verify_element_visible browser_verify_text_visible
browser_verify_list_visible browser_verify_value browser_start_video browser_stop_video browser_video_chapter
browser_video_show_actions browser_video_hide_actions browser_wait_for browser_localstorage_list
browser_localstorage_get browser_localstorage_set browser_localstorage_delete browser_localstorage_clear
browser_sessionstorage_list browser_sessionstorage_get browser_sessionstorage_set browser_sessionstorage_delete
browser_sessionstorage_clear`

// devtoolsTools are those that chrome-devtools-mcp 1.11.0 registers, with all its flags.
const devtoolsTools = `
	analyze_heapsnapshot_contexts click click_at close_heapsnapshot close_page compare_heapsnapshots drag emulate
	evaluate evaluate_script execute_3p_developer_tool execute_webmcp_tool fill fill_form get_console_message
	get_css_styles get_devtools_comments get_heapsnapshot_class_nodes get_heapsnapshot_details
	get_heapsnapshot_dominators get_heapsnapshot_duplicate_strings get_heapsnapshot_edges
	get_heapsnapshot_object_details get_heapsnapshot_retainers get_heapsnapshot_retaining_paths
	get_heapsnapshot_summary get_network_request get_os_app_state get_tab_id handle_dialog hover install_extension
	install_pwa launch_pwa lighthouse_audit list_3p_developer_tools list_console_messages list_extensions
	list_network_requests list_pages list_webmcp_tools navigate navigate_page new_page open_devtools
	performance_analyze_insight performance_start_trace performance_stop_trace press_key
	query_heapsnapshot_objects reload_extension resize_page resolve_devtools_comment reveal_in_devtools
	screencast_start screencast_stop screenshot select_page take_heapsnapshot take_screenshot take_snapshot
	trigger_extension_action type_text uninstall_extension uninstall_pwa upload_file wait_for`

const opentabsTools = 76 // that are built into OpenTabs, besides two of its platform

var (
	nameInRow = regexp.MustCompile("`([a-z0-9_]+)`(\\*?)")
	rowForm   = regexp.MustCompile(`(?m)^\| (.+?) \| (.+) \|$`)
)

// TestEveryToolElsewhereHasItsEqualOrAReason holds the tables of docs/browser-tools.md against the tools there are.
func TestEveryToolElsewhereHasItsEqualOrAReason(t *testing.T) {
	text, err := os.ReadFile("../docs/browser-tools.md")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string][]string{}
	for _, table := range []string{"playwright", "devtools", "opentabs"} {
		_, rest, _ := strings.Cut(string(text), "<!-- "+table+" -->")
		rows, _, ended := strings.Cut(rest, "<!-- end -->")
		if !ended {
			t.Fatalf("there is no table %s", table)
		}
		for _, row := range rowForm.FindAllStringSubmatch(rows, -1)[2:] {
			for _, found := range nameInRow.FindAllStringSubmatch(row[1], -1) {
				if slices.Contains(there[table], found[1]) {
					t.Errorf("%s stands there twice", found[1])
				}
				there[table] = append(there[table], found[1])
			}
			checkEquals(t, row[2])
		}
	}
	for table, names := range map[string]string{"playwright": playwrightTools, "devtools": devtoolsTools} {
		want := strings.Fields(names)
		slices.Sort(want)
		slices.Sort(there[table])
		if !slices.Equal(want, there[table]) {
			t.Errorf("the table %s has the tools %v, and they are %v", table, there[table], want)
		}
	}
	if n := len(there["opentabs"]); n != opentabsTools+2 {
		t.Errorf("the table has %d tools of OpenTabs, and there are %d", n, opentabsTools+2)
	}
}

// words in the tables that stand for something other than a tool.
var noTools = []string{"dialogs", "har", "area", "bodies", "offline", "getComputedStyle", "relay__doctor",
	"bridge_health", "tabId", "logs", "doctor", "list_tabs", "open_tab"}

// checkEquals wants every name in the column of ours to be a tool, marked when it is one of browser-dev.
func checkEquals(t *testing.T, cell string) {
	t.Helper()
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	plugins := map[string]string{}
	for _, name := range []string{plugin.Browser, plugin.OptIn} {
		for _, tool := range readManifest(t, files, name).Tools {
			plugins[tool.Name] = name
		}
	}
	for _, found := range nameInRow.FindAllStringSubmatch(cell, -1) {
		name, marked := found[1], found[2] == "*"
		if slices.Contains(noTools, name) {
			continue
		}
		if of, ok := plugins[name]; !ok || marked != (of == plugin.OptIn) {
			t.Errorf("%q: %s is a tool of %q", cell, name, of)
		}
	}
}
