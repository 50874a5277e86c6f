// The errands as scripts of `relay__run`, as an agent writes them that knows the browser's tools: a script ends where it
// does not know how the page that comes names things, with a look at it.

/** A script; written by what the one before answered, where that has to be known. */
export type Script = string | ((answer: string) => string);

const look = (to: string): string => `browser.navigate({ to: ${JSON.stringify(to)}, look: true })`;

// The reference of the last thing that is called so.
const refOf = (answer: string, called: string): string =>
  /^[^\]]*/.exec(answer.slice(answer.lastIndexOf(`${called} [`) + called.length + 2))?.[0] ?? '';

export const order = (site: string): string[] => [
  look(`${site}/order`),
  `await browser.fill({ fields: [
  { ref: 'textbox "Customer"', value: 'Ada Lovelace' },
  { ref: 'textbox "Email"', value: 'ada@leaf.example' },
  { ref: 'combobox "City"', value: 'Ghent' },
  { ref: 'combobox "Size"', value: 'Large' },
  { ref: 'checkbox "Wrap as a gift"', value: true },
  { ref: 'radio "By courier"', value: true }] })
await browser.click({ ref: 'button "Place order"', dialogs: 'accept' })
await browser.wait('Order 4711 is placed.')`,
];

export const list = (site: string): string[] => [
  look(`${site}/list`),
  `const shown = async () =>
  [...(await browser.snapshot({ full: true })).matchAll(/Edit article (\\d+)/g)].map(([, n]) => +n)
let [top] = await shown()
for (let y = 20000, tries = 0; tries < 5; tries++) {
  await browser.pointer({ action: 'scroll', ref: 'list "Articles"', at: { y } })
  const now = await shown()
  if (now.includes(1234)) break
  y = Math.round((1229 - now[0]) * y / (now[0] - top))
  top = now[0]
}
await browser.click('button "Edit article 1234"')
await browser.fill({ fields: [{ ref: 'textbox "Amount of article 1234"', value: '77' }] })
await browser.click('button "Save"')
await browser.wait('Article 1234 is saved.')`,
];

export const board = (site: string): string[] => [
  look(`${site}/board`),
  `await browser.pointer({ action: 'drag', ref: '"Mend the login"', to: '"Draw the icons"' })
await browser.wait('Mend the login is in Doing.')`,
];

export const table = (site: string): string[] => [
  look(`${site}/table`),
  `await browser.click('button "Approve" in "107"')
await browser.wait('Order 107 is approved.')`,
];

export const editor = (page: string): string[] => [
  look(page),
  `await browser.fill({ fields: [
  { ref: 'textbox "Headline"', value: 'The owl' },
  { ref: 'checkbox "Allow comments"', value: true }] })
await browser.fill({ fields: [{ ref: 'textbox "Text of the article"', value: 'Owls fly at night.' }] })
await browser.click('button "Publish"')
await browser.wait('The article is published.')`,
];

export const booking = (site: string): string[] => [
  look(`${site}/booking`),
  `await browser.fill({ fields: [
  { ref: '"Arrival"', value: '2027-03-10' },
  { ref: 'slider "Budget"', value: 250 },
  { ref: 'slider "Guests"', value: 4 }] })
await browser.click('button "10 March 2027"')
await browser.click('button "14 March 2027"')
await browser.upload({ ref: '"Passport copy"', files: [{ name: 'passport.txt', text: 'A passport' }] })
await browser.click('button "Book"')
await browser.wait('The room is booked.')`,
];

export const wizard = (site: string): string[] => [
  look(`${site}/wizard`),
  `await browser.fill({ fields: [
  { ref: 'textbox "Full name"', value: 'Ada Lovelace' },
  { ref: 'textbox "Street"', value: 'Dover Street 12' },
  { ref: 'textbox "Town"', value: 'London' }] })
browser.click({ ref: 'button "Next"' })`,
  `await browser.fill({ fields: [{ ref: 'radio "Green power"', value: true }] })
await browser.click('button "Next"')
const clicked = await browser.click('button "Confirm with the bank"')
const bank = +/opened: tab (\\d+)/.exec(clicked)[1]
clicked + await browser.snapshot({ tabId: bank })`,
  `const { tabs } = await browser.listTabs()
const [bank, form] = ['Bank', 'Contract'].map((title) => tabs.find((one) => one.title === title).tabId)
await browser.fill({ tabId: bank, fields: [{ ref: 'combobox "Account"', value: 'Current 22' }] })
await browser.click({ tabId: bank, ref: 'button "Confirm"' })
await browser.wait({ tabId: form, text: 'The bank has confirmed.' })
browser.click({ tabId: form, ref: 'button "Next"' })`,
  `await browser.fill({ fields: [{ ref: 'checkbox "I accept the terms"', value: true }] })
await browser.click('button "Send"')
await browser.wait('The contract is sent.')`,
];

export const wiki = (page: string): Script[] => [
  look(page),
  `await browser.fill({ fields: [{ ref: 'searchbox "Search Test wiki"', value: 'fox' }], submit: true })`,
  (found) => `await browser.click('${refOf(found, 'link "Red fox"')}')
await browser.click('link "Edit"')
browser.snapshot({ full: true })`,
  `await browser.fill({ fields: [
  { ref: 'textbox "Wikitext source editor"', value: "The '''red fox''' is a fox.\\n\\n* Mice\\n* Berries\\n* Apples" },
  { ref: 'textbox "Summary"', value: 'It eats apples, too' }] })
await browser.click('button "Save changes"')
await browser.wait('Apples')
await browser.click('link "View history"')
await browser.wait('It eats apples, too')`,
];

export const blog = (page: string): Script[] => [
  look(page),
  `await browser.wait('Welcome to the block editor')
browser.snapshot({ full: true })`,
  `await browser.click('button "Close dialog"')
await browser.fill({ fields: [{ ref: 'textbox "Add title"', value: 'The owl' }] })
await browser.click('button "Add default block"')
browser.snapshot({ full: true })`,
  (
    editor,
  ) => `await browser.fill({ fields: [{ ref: 'document "Empty block…"', value: 'Owls fly at night.' }] })
await browser.click('${refOf(editor, 'button "Post"')}')
await browser.click('button "Categories"')
await browser.click('button "Add New Category"')
await browser.fill({ fields: [{ ref: 'textbox "New Category Name"', value: 'Birds' }], submit: true })
browser.click('button "Publish"')`,
  (editor) => `await browser.click('${refOf(editor, 'button "Publish"')}')
await browser.wait('is now live')`,
];

export const mail = (inbox: string): Script[] => [
  look(inbox),
  `await browser.fill({ fields: [{ ref: 'textbox "Search..."', value: 'Lunch' }], submit: true })
await browser.click('"Lunch on Friday"')
await browser.wait('Shall we meet at noon?')
await browser.click('button "Reply"')
browser.snapshot({ full: true })`,
  `await browser.fill({ fields: [{ ref: 'textbox "Message"', value: 'Yes, at noon.' }] })
await browser.click('button "Send"')
await browser.wait('Messages 1 to')
await browser.navigate(${JSON.stringify(inbox)})
await browser.click('"Lunch on Friday"')
await browser.wait('Shall we meet at noon?')
await browser.click('button "More"')
browser.click('button "Move to..."')`,
  (menu) => `await browser.click('${refOf(menu, 'link "Archive"')}')
await browser.wait('moved successfully')`,
];

export const flows = (page: string): string[] => [
  look(page),
  `await browser.click({ ref: '"Greet"', count: 2 })
browser.snapshot({ full: true })`,
  `await browser.fill({ fields: [{ ref: 'textbox "Name"', value: 'Welcome' }] })
await browser.click('button "Done"')
await browser.click({ ref: '"Press"', count: 2 })
await browser.fill({ fields: [{ ref: 'textbox "Name"', value: 'Start' }] })
await browser.click('button "Done"')
await browser.click('"Deploy"')
await browser.wait('Successfully deployed')`,
];

export const records = (page: string): string[] => [
  look(page),
  `await browser.click('button "New record"')
browser.snapshot({ full: true })`,
  `await browser.fill({ fields: [
  { ref: 'textbox "title"', value: 'The heron' },
  { ref: 'spinbutton "pages"', value: 64 }] })
await browser.click('button "Create"')
await browser.wait('The heron')
await browser.fill({ fields: [{ ref: 'textbox "Search term or filter…"', value: 'pages < 50' }], submit: true })
await browser.click('"The hare"')
await browser.fill({ fields: [{ ref: 'spinbutton "pages"', value: 41 }] })
await browser.click('button "Save changes"')
await browser.wait('Successfully updated record')`,
];
