/** An app of the developer platform's store. */
export interface StoreApp {
  readonly slug: string
  readonly title: string
  readonly summary: string
  readonly description: string
  readonly category: string
  readonly publisher: string
  readonly kind: 'application' | 'technical'
  readonly lifecycle: 'active'
  readonly contexts: readonly ('organization' | 'personal')[]
  readonly capabilities: readonly 'household_capable'[]
  /** For whom one answer of its widget is true; null for an app without one. */
  readonly audience: 'user' | 'organization' | null
  /** Slug of the organization that it belongs to; null for an app of the store. */
  readonly ownedBy: string | null
  readonly version: string
}

const app = (slug: string, title: string, category: string, summary: string, description: string, more: Partial<StoreApp> = {}): StoreApp => ({
  ...{ slug, title, summary, description, category, publisher: 'Northwind Apps', version: '1.4.0' },
  ...{ kind: 'application', lifecycle: 'active', contexts: ['organization'], capabilities: [], audience: 'user', ownedBy: null },
  ...more,
})

/** The ten apps with a widget. */
const withWidget: readonly StoreApp[] = [
  app(
    'route-finder',
    'Route Finder',
    'Logistics',
    'Plans the shortest round trips for drivers',
    'Sorts the stops of a day, counts traffic in and sends drivers their route.',
  ),
  app('stock-count', 'Stock Count', 'Logistics', 'Counts what lies in the warehouse', 'Scans shelves, compares with the books and orders what runs out.'),
  app('field-survey', 'Field Survey', 'Operations', 'Forms for people who work outside', 'Collects answers, photos and places, also without a network.'),
  app('shift-planner', 'Shift Planner', 'People', 'Rosters that respect rest and holidays', 'Plans shifts, swaps them and tells everybody when to come.'),
  app('invoice-scanner', 'Invoice Scanner', 'Finance', 'Reads invoices from pictures', 'Takes a picture of an invoice and fills in amounts, dates and tax.'),
  app('time-sheet', 'Time Sheet', 'People', 'Hours of work, by project', 'Writes down who worked on what and for how long.'),
  app('menu-board', 'Menu Board', 'Hospitality', 'Menus on screens', 'Shows dishes and prices of the day on every screen of a restaurant.'),
  app('help-desk', 'Help Desk', 'Support', 'Questions of customers in one queue', 'Sorts questions, answers the usual ones and counts how long people wait.'),
  app('guest-list', 'Guest List', 'Hospitality', 'Invitations and who comes', 'Sends invitations, counts answers and prints name tags.', {
    capabilities: ['household_capable'],
  }),
  app('team-board', 'Team Board', 'Operations', 'Tasks of a team on one board', 'Moves cards from to do to done, the same for the whole team.', {
    audience: 'organization',
  }),
]

/** Every app that the developer platform lists. */
export const storeApps: readonly StoreApp[] = [
  ...withWidget,
  app('day-planner', 'Day Planner', 'Personal', 'Your own day at a glance', 'Sorts appointments and errands of one person.', { contexts: ['personal'] }),
  app('address-check', 'Address Check', 'Data', 'Checks postal addresses', 'Other apps ask it whether an address exists.', {
    kind: 'technical',
    audience: null,
  }),
  app('demo-tool', 'Demo Tool', 'Internal', 'What Demo made for itself', 'An app of the organization Demo alone.', {
    audience: null,
    ownedBy: 'demo',
    publisher: 'Demo',
  }),
]

/** Slugs of the ten apps with a widget for organizations. */
export const widgetApps: readonly string[] = withWidget.map(({ slug }) => slug)

/** An icon of an app: a circle with its first letter. */
export const iconOf = ({ title }: Pick<StoreApp, 'title'>): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><circle cx="32" cy="32" r="30" fill="#0369a1"/><text x="32" y="43" fill="#fff" font-family="sans-serif" font-size="32" text-anchor="middle">${title[0]}</text></svg>`
