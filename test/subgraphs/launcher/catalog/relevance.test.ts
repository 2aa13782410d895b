import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { seedApps } from './seed.ts'

/** A store of sixty apps that have words in common. */
const apps: Readonly<Record<string, string>> = {
  'Route Finder': 'Plans tours for drivers',
  'Route Planner Pro': 'Tours and stops for a whole fleet',
  'Fleet Watch': 'Shows where each car and van is',
  'Stock Count': 'Counts what is in the shelves',
  'Stock Alerts': 'Says when something runs out',
  'Store Keeper': 'Goods in and out of a warehouse',
  'Time Sheet': 'Hours of a team, by project',
  'Time Clock': 'Clock in and out by phone',
  'Shift Planner': 'Who works when, and who swaps',
  Rota: 'Weekly rotas for small teams',
  'Invoice Scanner': 'Reads paper bills with the camera',
  'Invoice Maker': 'Writes bills in five languages',
  'Quote Builder': 'Offers that become bills',
  'Expense Report': 'Receipts and mileage',
  'Receipt Box': 'Keeps receipts for the tax office',
  'Payroll Helper': 'Wages, bonuses and slips',
  'Menu Board': 'Dishes and prices on a screen',
  'Recipe Book': 'Dishes, portions and allergens',
  'Table Booking': 'Reservations for restaurants',
  'Guest List': 'Who comes to an event',
  'Event Planner': 'From the first guest to the last chair',
  'Help Desk': 'Tickets from customers',
  'Ticket Office': 'Sells seats for concerts',
  'Field Survey': 'Forms for people outside',
  'Survey Maker': 'Questions and charts',
  'Form Builder': 'Forms without code',
  'Team Board': 'Tasks on cards',
  'Task List': 'What is to be done today',
  'Project Timeline': 'Bars, milestones and delays',
  'Calendar Sync': 'Keeps two calendars equal',
  'Meeting Notes': 'Minutes and decisions',
  'Room Finder': 'Free rooms in the office',
  'Desk Sharing': 'Books a desk for a day',
  'Visitor Log': 'Signs guests in at reception',
  'Key Cabinet': 'Who has which key',
  'Asset Register': 'Laptops, phones and tools',
  'Tool Crib': 'Lends tools to crews',
  'Repair Orders': 'Jobs of a workshop',
  'Workshop Board': 'What stands on which lift',
  'Parts Catalogue': 'Spare parts with drawings',
  'Price Tags': 'Prints labels for shelves',
  'Barcode Printer': 'Labels with codes',
  'Photo Archive': 'Pictures by person and place',
  'Brand Kit': 'Logos, colours and fonts',
  'Social Calendar': 'Posts by day and network',
  'Newsletter Studio': 'Mail to many readers',
  'Contact Cards': 'Addresses of customers and vendors',
  'Lead Tracker': 'From first call to order',
  'Contract Vault': 'Agreements and their ends',
  'Signature Pad': 'Signs agreements on glass',
  'Policy Reader': 'Rules that everybody confirms',
  'Safety Walk': 'Hazards with photos',
  'Incident Report': 'Accidents and near misses',
  'Training Plan': 'Lessons and certificates',
  'Quiz Night': 'Questions for fun',
  'Weather Watch': 'Wind and rain at the site',
  'Site Diary': 'What a crew built today',
  'Water Meter': 'Reads meters by camera',
  'Energy Report': 'Power and heat by building',
  'Coffee Fund': 'Who owes what for coffee',
}

/** What is typed, and the app that comes first. */
const queries: Readonly<Record<string, string>> = {
  // words as they stand, in any order and case
  'route finder': 'Route Finder',
  ROTA: 'Rota',
  'time sheet': 'Time Sheet',
  'sheet time': 'Time Sheet',
  'team board': 'Team Board',
  menu: 'Menu Board',
  quiz: 'Quiz Night',
  'field survey': 'Field Survey',
  survey: 'Survey Maker',
  'help desk': 'Help Desk',
  'invoice scanner': 'Invoice Scanner',
  'guest list': 'Guest List',
  // words of the summary
  drivers: 'Route Finder',
  warehouse: 'Store Keeper',
  wages: 'Payroll Helper',
  mileage: 'Expense Report',
  allergens: 'Recipe Book',
  concerts: 'Ticket Office',
  milestones: 'Project Timeline',
  certificates: 'Training Plan',
  laptops: 'Asset Register',
  fonts: 'Brand Kit',
  hazards: 'Safety Walk',
  'rooms office': 'Room Finder',
  'camera bills': 'Invoice Scanner',
  // beginnings of words
  'inv sc': 'Invoice Scanner',
  cal: 'Calendar Sync',
  barc: 'Barcode Printer',
  news: 'Newsletter Studio',
  sig: 'Signature Pad',
  shif: 'Shift Planner',
  'rou pla': 'Route Planner Pro',
  weat: 'Weather Watch',
  cont: 'Contact Cards',
  // words that say nothing
  'an app for the menu': 'Menu Board',
  'my time sheet': 'Time Sheet',
  // a letter too few
  'rout findr': 'Route Finder',
  calendr: 'Calendar Sync',
  'invoce scaner': 'Invoice Scanner',
  stok: 'Stock Alerts',
  wether: 'Weather Watch',
  recpe: 'Recipe Book',
  // a letter too many
  'stockk countt': 'Stock Count',
  menuu: 'Menu Board',
  payrolll: 'Payroll Helper',
  photoo: 'Photo Archive',
  // another letter
  'calender sync': 'Calendar Sync',
  expanse: 'Expense Report',
  sefety: 'Safety Walk',
  enargy: 'Energy Report',
  barkode: 'Barcode Printer',
  // letters exchanged
  invioce: 'Invoice Maker',
  'tmie clock': 'Time Clock',
  'hlep desk': 'Help Desk',
  tikcet: 'Ticket Office',
  'cofee fnud': 'Coffee Fund',
  gusets: 'Visitor Log',
  // several mistakes in one search
  'newsleter studo': 'Newsletter Studio',
  'contrct valt': 'Contract Vault',
  'signatur pda': 'Signature Pad',
  'repiar ordres': 'Repair Orders',
}

let graph: Supergraph
beforeAll(async () => {
  graph = await supergraph()
  const slugOf = (title: string) => title.toLowerCase().replaceAll(' ', '-')
  await seedApps(
    graph,
    ...Object.entries(apps).map(([title, summary]) => ({ slug: slugOf(title), title, summary, launchUrl: `https://apps.example/${slugOf(title)}` })),
  )
})
afterAll(() => graph[Symbol.asyncDispose]())

const find = async (search: string): Promise<string[]> =>
  (await graph.execute('query($search: String!) { storeApps(search: $search, first: 5) { nodes { title } } }', { search }))
    .data()
    .storeApps.nodes.map(({ title }: { title: string }) => title)

describe('a search of the store', () => {
  it.each(Object.entries(queries))('"%s" finds %s first', async (query, first) => expect((await find(query))[0]).toBe(first))

  it.each(['zzzz', 'xylophone', 'qqq www', 'route xylophone', '!!'])('"%s" finds nothing', async query => expect(await find(query)).toEqual([]))

  it('tries sixty searches', () => expect(Object.keys(queries).length).toBeGreaterThanOrEqual(60))

  it('no longer takes a typed word for one of an app that is gone', async () => {
    await seedApps(graph, { slug: 'gone', title: 'Gonfalon' })
    expect(await find('gonfaln')).toEqual(['Gonfalon'])
    await seedApps(graph, { slug: 'stays', title: 'Gonfalons' })
    expect(await graph.rows("select word from launcher.catalog_words where word like 'gon%'")).toEqual([{ word: 'gonfalons' }])
    expect(await find('gonfaln')).toEqual(['Gonfalons'])
  })
})
