// What elements are called: cases as in the tests of accname 1.2 and HTML-AAM, and the widgets of the ARIA Authoring
// Practices, as pages of our own. The element that is asked about has the id t.

export type NameCase = readonly [what: string, html: string, name: string];
export type RoleCase = readonly [html: string, role: string];

export const names: readonly NameCase[] = [
  ['the text of a button', '<button id=t>Save</button>', 'Save'],
  ['parts of a button', '<button id=t><b>Save</b> <i>all</i></button>', 'Save all'],
  ['blocks are apart', '<button id=t><div>Save</div><div>all</div></button>', 'Save all'],
  ['inline parts are not', '<button id=t>un<b>do</b></button>', 'undo'],
  ['a line break is a blank', '<a href=/ id=t>one<br>two</a>', 'one two'],
  ['aria-label', '<button id=t aria-label="Close">x</button>', 'Close'],
  ['an empty aria-label does not count', '<button id=t aria-label=" ">x</button>', 'x'],
  ['aria-labelledby', '<span id=a>Name</span><input id=t aria-labelledby=a>', 'Name'],
  ['in the order of the ids', '<i id=a>one</i><i id=b>two</i><input id=t aria-labelledby="b a">', 'two one'],
  ['ids that are not there', '<i id=a>one</i><input id=t aria-labelledby="x a y">', 'one'],
  ['none that is there', '<label>Field <input id=t aria-labelledby="x y"></label>', 'Field'],
  ['before aria-label', '<i id=a>one</i><button id=t aria-label=two aria-labelledby=a>three</button>', 'one'],
  [
    'itself',
    '<i id=a>file.txt</i><button id=t aria-label=Delete aria-labelledby="t a"></button>',
    'Delete file.txt',
  ],
  ['no chains', '<i id=c>far</i><i id=b aria-labelledby=c>near</i><input id=t aria-labelledby=b>', 'near'],
  ['a circle', '<i id=b aria-labelledby=t>near</i><button id=t aria-labelledby=b>self</button>', 'near'],
  [
    'a referenced label of another',
    '<i id=a aria-label="said">shown</i><input id=t aria-labelledby=a>',
    'said',
  ],
  ['hidden, and referenced', '<i id=a hidden>unseen</i><input id=t aria-labelledby=a>', 'unseen'],
  ['with hidden parts', '<i id=a hidden>un<b>seen</b></i><input id=t aria-labelledby=a>', 'unseen'],
  [
    'a hidden part of what is shown',
    '<span id=a>seen <b hidden>unseen</b></span><input id=t aria-labelledby=a>',
    'seen',
  ],
  ['aria-hidden parts', '<button id=t>Save <i aria-hidden=true>icon</i></button>', 'Save'],
  ['parts that are not displayed', '<button id=t>Save <i style="display:none">no</i></button>', 'Save'],
  ['parts that are invisible', '<button id=t>Save <i style="visibility:hidden">no</i></button>', 'Save'],
  ['a label around', '<label>Name <input id=t></label>', 'Name'],
  ['a label for it', '<label for=t>Name</label><input id=t>', 'Name'],
  ['two labels', '<label for=t>First</label><label for=t>second</label><input id=t>', 'First second'],
  ['a label of a select', '<label>Size <select id=t><option>S<option>M</select></label>', 'Size'],
  ['a label of a text area', '<label for=t>Notes</label><textarea id=t>words</textarea>', 'Notes'],
  [
    'a field in a label is its value',
    '<label for=t>Flash <input value=5 aria-label=times> times</label><input type=checkbox id=t>',
    'Flash 5 times',
  ],
  [
    'a list in a label is what is chosen',
    '<label for=t>Every <select><option>day<option selected>week</select></label><input type=checkbox id=t>',
    'Every week',
  ],
  [
    'a slider in a label',
    '<label for=t>At <span role=slider aria-valuenow=7 aria-valuetext=seven></span></label><input type=checkbox id=t>',
    'At seven',
  ],
  ['a title', '<input id=t title="Your name">', 'Your name'],
  ['a title is the last', '<button id=t title="more">Save</button>', 'Save'],
  ['a placeholder', '<input id=t placeholder="Search">', 'Search'],
  ['a title before a placeholder', '<input id=t title=Find placeholder=Search>', 'Find'],
  ['the value of a button', '<input type=button id=t value=Go>', 'Go'],
  ['of one that sends', '<input type=submit id=t>', 'Submit'],
  ['of one that resets', '<input type=reset id=t>', 'Reset'],
  ['of one with a picture', '<input type=image id=t alt=Search>', 'Search'],
  ['a picture', '<img id=t alt="A tree">', 'A tree'],
  ['a picture with a title', '<img id=t title="A tree">', 'A tree'],
  ['a picture in a link', '<a href=/ id=t><img alt=Home></a>', 'Home'],
  ['words and a picture', '<a href=/ id=t>Go <img alt=home></a>', 'Go home'],
  ['a picture for looks', '<button id=t><img alt="">Save</button>', 'Save'],
  ['the title of a drawing', '<svg id=t><title>Chart</title><rect/></svg>', 'Chart'],
  ['a drawing in a button', '<button id=t><svg><title>Close</title></svg></button>', 'Close'],
  ['a drawing with a label', '<svg id=t role=img aria-label=Map></svg>', 'Map'],
  [
    'a figure is not called by its caption',
    '<figure id=t><img alt=x><figcaption>Fig. 1</figcaption></figure>',
    '',
  ],
  ['a set of fields', '<fieldset id=t><legend>Address</legend><input></fieldset>', 'Address'],
  ['a table', '<table id=t><caption>Prices</caption><tr><td>1</table>', 'Prices'],
  ['a heading', '<h2 id=t>A <em>new</em> day</h2>', 'A new day'],
  ['text of a style sheet', '<style>#t::before{content:"New "}</style><h2 id=t>day</h2>', 'New day'],
  ['and behind it', '<style>#t::after{content:" (2)"}</style><a href=/ id=t>Mail</a>', 'Mail (2)'],
  [
    'what it is called aloud',
    '<style>#t::before{content:"★" / "Rated "}</style><a href=/ id=t>5</a>',
    'Rated 5',
  ],
  ['a part with a label', '<button id=t>Add <i aria-label="to cart">c</i></button>', 'Add to cart'],
  ['a link in a link of words', '<div role=link id=t tabindex=0>Read <a href=/>more</a></div>', 'Read more'],
  ['owned by it', '<button id=t aria-owns=a>Save</button><i id=a>all</i>', 'Save all'],
  ['an option', '<select><option id=t label=Large>L</select>', 'Large'],
  ['a group of options', '<select><optgroup id=t label=Sizes><option>L</select>', 'Sizes'],
  ['a summary', '<details><summary id=t>More</summary>all</details>', 'More'],
  ['no name from what it holds', '<div role=group id=t>many words</div>', ''],
  ['nor a dialog', '<div role=dialog id=t aria-labelledby=h><h2 id=h>Delete?</h2>Really</div>', 'Delete?'],
  ['a tab', '<div role=tablist><div role=tab id=t><span>One</span></div></div>', 'One'],
  ['an item of a tree', '<ul role=tree><li role=treeitem id=t>Leaf</ul>', 'Leaf'],
  ['a switch', '<button role=switch id=t aria-checked=false>Dark</button>', 'Dark'],
  ['a cell', '<table role=grid><tr><td id=t>7</table>', '7'],
  ['the header of a column', '<table><tr><th id=t>Price</table>', 'Price'],
  ['a progress bar', '<label>Load <progress id=t value=1 max=2></progress></label>', 'Load'],
  ['words of a frame', '<iframe id=t title="Pay"></iframe>', 'Pay'],
  ['many blanks', '<button id=t>  a \n\t b  </button>', 'a b'],
];

export const roles: readonly RoleCase[] = [
  ['<a id=t>x</a>', ''],
  ['<a id=t href=/>x</a>', 'link'],
  ['<button id=t></button>', 'button'],
  ['<button id=t aria-pressed=true></button>', 'button'],
  ['<div id=t role="foo button"></div>', 'button'],
  ['<div id=t role=unknown></div>', ''],
  ['<button id=t role=none></button>', 'button'],
  ['<ul><li id=t role=presentation>x</ul>', ''],
  ['<img id=t alt="">', ''],
  ['<img id=t alt=x>', 'img'],
  ['<div id=t role=image></div>', 'img'],
  ['<h3 id=t>x</h3>', 'heading'],
  ['<header id=t></header>', 'banner'],
  ['<article><header id=t></header></article>', ''],
  ['<section id=t></section>', ''],
  ['<section id=t aria-label=x></section>', 'region'],
  ['<nav id=t></nav>', 'navigation'],
  ['<input id=t type=search>', 'searchbox'],
  ['<input id=t type=email>', 'textbox'],
  ['<input id=t type=number>', 'spinbutton'],
  ['<input id=t type=range>', 'slider'],
  ['<input id=t list=l><datalist id=l></datalist>', 'combobox'],
  ['<select id=t></select>', 'combobox'],
  ['<select id=t multiple></select>', 'listbox'],
  ['<table><tr><th id=t scope=row>x</table>', 'rowheader'],
  ['<table role=grid><tr><td id=t>x</table>', 'gridcell'],
  ['<table><tr id=t><td>x</table>', 'row'],
  ['<dialog id=t open></dialog>', 'dialog'],
  ['<div id=t role=alertdialog></div>', 'alertdialog'],
  ['<div id=t role=treegrid></div>', 'treegrid'],
  ['<div id=t role=tabpanel></div>', 'tabpanel'],
  ['<div id=t role=menuitemcheckbox></div>', 'menuitemcheckbox'],
  ['<div id=t role=feed></div>', 'feed'],
  ['<div id=t role=toolbar></div>', 'toolbar'],
  ['<div id=t role=spinbutton></div>', 'spinbutton'],
  ['<fieldset id=t></fieldset>', 'group'],
  ['<output id=t></output>', 'status'],
  ['<progress id=t></progress>', 'progressbar'],
  ['<hr id=t>', 'separator'],
  ['<svg id=t></svg>', 'img'],
];

/** Widgets as the Authoring Practices build them, and the lines that tell them. */
export const widgets: readonly (readonly [what: string, html: string, lines: string])[] = [
  [
    'tabs',
    `<div role=tablist aria-label=Views><button role=tab aria-selected=true aria-controls=p>One</button>
<button role=tab aria-selected=false tabindex=-1>Two</button></div><div role=tabpanel id=p aria-label=One>Words</div>`,
    'tablist "Views"\n tab "One" [e1] selected\n tab "Two" [e2]\ntabpanel "One": "Words"',
  ],
  [
    'words with nothing but blanks between them',
    '<p><b>One</b> <i>two</i>\n<span>three</span><b>four</b> <a href=/>five</a></p>',
    '"One two threefour" link "five" [e1]',
  ],
  [
    'a row that is clicked, with an icon',
    '<div style="cursor:pointer">Inbox<div class=flag style="width:20px;height:20px"></div></div>',
    'clickable "Inbox" [e2]\n clickable "flag" [e1]',
  ],
  [
    'a thing that is dragged, with the parts of its drawing',
    `<div style="cursor:move">Switch<div class=port style="width:20px;height:20px"></div>
<div class=port style="width:20px;height:20px"></div></div>`,
    'draggable "Switch" [e1]',
  ],
  [
    'a disclosure',
    '<button aria-expanded=false aria-controls=d>More</button><p id=d hidden>Hidden words</p>',
    'button "More" [e1] collapsed',
  ],
  [
    'a tree',
    `<ul role=tree aria-label=Files><li role=treeitem aria-expanded=true><span>src</span>
<ul role=group><li role=treeitem aria-selected=true tabindex=0>main.ts</li></ul></li></ul>`,
    'tree "Files"\n treeitem "src" [e2] expanded\n  treeitem "main.ts" [e1] selected',
  ],
  [
    'a list to choose from',
    `<ul role=listbox aria-label=Sizes tabindex=0><li role=option aria-selected=true>S</li>
<li role=option>M</li></ul>`,
    'listbox "Sizes" [e3]\n option "S" [e1] selected\n option "M" [e2]',
  ],
  [
    'a combobox',
    `<label for=c>City</label><input id=c role=combobox aria-expanded=true aria-controls=l value=Gh>
<ul id=l role=listbox aria-label=Cities><li role=option>Ghent</li></ul>`,
    'combobox "City" [e1] expanded = "Gh"\nlistbox "Cities" [e3]\n option "Ghent" [e2]',
  ],
  [
    'a menu',
    `<button aria-haspopup=true aria-expanded=true>File</button><ul role=menu aria-label=File>
<li role=menuitem tabindex=-1>New</li><li role=menuitemcheckbox aria-checked=true>Wrap</li></ul>`,
    'button "File" [e1] expanded\nmenu "File"\n menuitem "New" [e2]\n menuitemcheckbox "Wrap" [e3] checked',
  ],
  [
    'words of style sheets',
    '<style>.q::before{content:"Total: "}.q::after{content:" €" / " euro"}.b::after{content:"→"}</style>' +
      '<p class=q>12</p><p class=b>Go on</p>',
    '"Total: 12 euro"\n"Go on"',
  ],
  [
    'labels of what holds words',
    `<h2 aria-label="Two of five">2/5</h2><h3 aria-label="All">All <a href=/>Open</a></h3>
<ul aria-label=Colours><li>red<li aria-label="Sky blue">blue</ul><ul><li>loose</ul>
<div role=note aria-label=Hint>Save first</div><div role=group aria-label=Sizes><button>S</button><button>M</button></div>
<table><tr aria-label="Ada, chosen"><th>Who<th>Stars<tr><td>Ada<td aria-label="5 stars">★★★★★</table>`,
    'h2 "Two of five": "2/5"\nh3 "All" link "Open" [e1]\nlist "Colours"\n "red"\n listitem "Sky blue": "blue"\n"loose"\n' +
      'note "Hint": "Save first"\ngroup "Sizes"\n button "S" [e2]\n button "M" [e3]\ntable\n row "Ada, chosen": "Who" | "Stars"\n' +
      ' row: "Ada" | cell "5 stars"',
  ],
  [
    'a slider',
    '<div role=slider aria-label=Heat tabindex=0 aria-valuenow=20 aria-valuemin=0 aria-valuemax=40>&nbsp;</div>',
    'slider "Heat" [e1] = "20"',
  ],
  [
    'a dialog',
    '<div role=dialog aria-modal=true aria-labelledby=h><h2 id=h>Delete?</h2><button>Yes</button></div>',
    'dialog "Delete?" modal\n h2 "Delete?"\n button "Yes" [e1]',
  ],
  [
    'a grid',
    `<table role=grid aria-label=Dates><tr><th>Mo<th>Tu
<tr><td tabindex=0 aria-selected=true>1<td tabindex=-1>2</table>`,
    'grid "Dates"\n row: "Mo" | "Tu"\n row: gridcell "1" [e1] selected | gridcell "2" [e2]',
  ],
  ['a switch', '<span role=switch tabindex=0 aria-checked=true>Dark</span>', 'switch "Dark" [e1] checked'],
  [
    'a toolbar',
    '<div role=toolbar aria-label=Text><button aria-pressed=true>B</button><button>I</button></div>',
    'toolbar "Text"\n button "B" [e1] pressed\n button "I" [e2]',
  ],
  [
    'radio buttons',
    `<div role=radiogroup aria-label=Crust><div role=radio aria-checked=true tabindex=0>Thin</div>
<div role=radio aria-checked=false tabindex=-1>Thick</div></div>`,
    'radiogroup "Crust"\n radio "Thin" [e1] checked\n radio "Thick" [e2]',
  ],
  [
    'a carousel',
    `<section aria-roledescription=carousel aria-label=News><button aria-label="Next slide">›</button>
<div role=group aria-roledescription=slide aria-label="1 of 3"><a href=/1>First</a></div></section>`,
    'region "News"\n button "Next slide" [e1]\n group "1 of 3": link "First" [e2]',
  ],
  [
    'a feed',
    '<div role=feed aria-label=Posts><article aria-label=One tabindex=0><p>Words</p></article></div>',
    'feed "Posts"\n article "One" [e1]\n  "Words"',
  ],
];

/** What people do not see, and must not be told. */
export const unseen: readonly (readonly [how: string, html: string])[] = [
  ['transparent', '<p style="opacity:0">SECRET</p>'],
  ['in something transparent', '<div style="opacity:0"><p>SECRET</p></div>'],
  ['of size 0', '<p style="font-size:0">SECRET</p>'],
  ['in a part of size 0', '<p>seen <span style="font-size:0">SECRET</span></p>'],
  ['clipped to a dot', '<p style="position:absolute;width:1px;height:1px;overflow:hidden">SECRET</p>'],
  [
    'in a dot',
    '<div style="position:absolute;width:1px;height:1px;overflow:hidden"><p>SECRET words</p></div>',
  ],
  ['in a box without height', '<div style="height:0;overflow:hidden"><p>SECRET</p></div>'],
  ['in a box without width', '<div style="width:0;overflow:hidden"><p>SECRET</p></div>'],
  [
    'in a closed accordion',
    '<div style="max-height:0;overflow:hidden"><div><button>SECRET</button></div></div>',
  ],
  ['cut off by a clip path', '<p style="clip-path:inset(100%)">SECRET</p>'],
  ['cut off by a clip', '<p style="position:absolute;clip:rect(0,0,0,0)">SECRET</p>'],
  ['scaled to nothing', '<p style="transform:scale(0)">SECRET</p>'],
  ['left of the page', '<p style="position:absolute;left:-9999px">SECRET</p>'],
  ['above the page', '<p style="position:absolute;top:-9999px">SECRET</p>'],
  ['not displayed', '<p style="display:none">SECRET</p>'],
  ['not visible', '<p style="visibility:hidden">SECRET</p>'],
  ['content-visibility', '<div style="content-visibility:hidden"><p>SECRET</p></div>'],
  ['hidden', '<p hidden>SECRET</p>'],
  ['until it is found', '<p hidden="until-found">SECRET</p>'],
  ['in closed details', '<details><summary>More</summary>SECRET<p>SECRET</p></details>'],
  ['in a popover that is closed', '<div popover>SECRET</div>'],
  ['in a dialog that is closed', '<dialog>SECRET</dialog>'],
  ['aria-hidden', '<p aria-hidden=true>SECRET</p>'],
  ['inert', '<p inert>SECRET</p>'],
  ['behind a modal dialog', '<p>SECRET</p><dialog id=d>seen</dialog><script>d.showModal()</script>'],
  ['in a template', '<template>SECRET</template>'],
  ['in noscript', '<noscript>SECRET</noscript>'],
  ['of characters that nobody sees', '<p>seen \u{E0053}\u{E0045}</p>'],
];
