import { supergraph } from '../../../test/kit/supergraph.ts'
import { removeInstallations, seedPlatformApps } from '../../../test/subgraphs/launcher/catalog/seed.ts'
import { tableOfOperations, timeOperation } from './operations.ts'

/** Numbers of apps in the store, and of records of the searching organization by kind. */
const size = { apps: 50_000, installed: 500, items: 4_000, notifications: 4_000, links: 1_000, workflows: 500 } as const

/** Ms that the median of a search may take (contract of the launcher, "search"). */
const most = 15

const stems =
  'amber anchor atlas badge barrel basin beacon birch board bridge cabin canvas cargo cedar chart cloud cobalt comet copper coral crane delta desk drift ember falcon fern field flint forest garden glade globe grain grove harbor hazel iris island ivory jade jet lagoon lake lantern leaf ledger lemon light lime lodge loom maple marble market mason meadow mill mint moor oak ocean olive onyx opal orbit orchid otter pearl pine planet plum port prairie quartz quill raven reef ridge river robin route rune sable sage sail shelf shore silver slate spruce stock stone storm stream summit sun table tide timber time tower trail vale valley vault violet wave willow wind'.split(
    ' ',
  )
const trades =
  'account audit booking budget calendar campaign card catalog claim contact contract course crew customer delivery design document event expense fleet form guest hour invoice job lead lease lesson letter loan mail map meal member menu note order parcel part payroll permit photo plan policy pool price product project quote rate recipe record refund rent repair report room rota safety sale sample schedule seat service shift site staff stock store survey task team test ticket time tool tour trade trip unit vendor visit wage ward work'.split(
    ' ',
  )

const filled = `
  insert into launcher.catalog_entries (id, app, origin, title, summary, description, category, publisher, kind, lifecycle, contexts, capabilities, mobile_apps,
      screenshots, digest, created_at, updated_at, created_by)
    select gen_random_uuid(), 'app-' || n, 'STORE', initcap(s || ' ' || t || case when n % 7 = 0 then ' ' || t2 else '' end),
        'Keeps every ' || t || ' and ' || t2 || ' of a ' || s2, 'For teams that have more than one ' || t2 || ' a day, at ' || s || ' or ' || s2 || ' (' || n || ').',
        'Operations', 'Bench', 'APPLICATION', 'ACTIVE', '{ORGANIZATION}', '{}', '[]', '{}', md5(n::text), now(), now(), 'bench'
      from (select n, ($2::text[])[1 + n % $4] as s, ($2::text[])[1 + (n / 7) % $4] as s2, ($3::text[])[1 + (n / $4) % $5] as t, ($3::text[])[1 + (n * 13) % $5] as t2
        from generate_series(1, $1::int) n) numbered`

/** Measures searches of the store and of an organization with many records. */
export async function measureSearch(runs: number): Promise<string> {
  await using graph = await supergraph()
  const { owner } = await graph.seed.owner()
  await seedPlatformApps(graph)
  await removeInstallations(graph)
  const { organizationId, userId } = owner
  await graph.rows(filled, [size.apps, stems, trades, stems.length, trades.length])
  const now = graph.clock.now()
  const many = async (text: string, count: number) => graph.rows(text, [count, organizationId, userId, now, stems, trades, stems.length, trades.length])
  const words = `initcap(($5::text[])[1 + (n * 3) % $7] || ' ' || ($6::text[])[1 + n % $8]) || ' ' || n`
  await many(
    `insert into launcher.installations (id, app, user_id, organization_id, installed_by, installed_at, created_at, updated_at, created_by)
      select gen_random_uuid(), 'app-' || n * 97, null, $2, $3, $4, $4, $4, 'bench' from generate_series(1, $1::int) n where $5::text[] is not null and $6::text[] is not null and $7::int + $8::int > 0`,
    size.installed,
  )
  await many(
    `insert into launcher.action_items (id, app, key, kind, severity, status, organization_id, audience, subject_id, title, url, opened_at, created_at, updated_at, created_by)
      select gen_random_uuid(), 'publishing', 'post:' || n, 'POST_FAILED', 'HIGH', 'OPEN', $2, 'organization', n::text, ${words}, 'https://demo.example/' || n, $4, $4, $4, 'bench'
        from generate_series(1, $1::int) n where $3::uuid is not null`,
    size.items,
  )
  await many(
    `insert into launcher.notifications (id, user_id, organization_id, app, kind, title, severity, created_at, updated_at, created_by)
      select gen_random_uuid(), $3, $2, 'payments', 'order.paid', ${words}, 'NORMAL', $4, $4, 'bench' from generate_series(1, $1::int) n`,
    size.notifications,
  )
  await many(
    `insert into launcher.shared_links (id, organization_id, title, url, position, created_at, updated_at, created_by)
      select gen_random_uuid(), $2, ${words}, 'https://demo.example/' || n, n, $4, $4, 'bench' from generate_series(1, $1::int) n where $3::uuid is not null`,
    size.links,
  )
  await graph.rows('analyze launcher.catalog_entries')
  for (const table of ['installations', 'action_items', 'notifications', 'shared_links']) await graph.rows(`analyze launcher.${table}`)
  const ask = (document: string) => async () => (await graph.execute(document, {}, { as: owner })).data()
  const store = (search: string) => ask(`{ storeApps(search: "${search}", first: 20) { nodes { app title } } }`)
  const own = (query: string) => ask(`{ launcherSearch(query: "${query}", first: 10) { id title } }`)
  const searches = {
    'two words': 'route invoice',
    'one word': 'invoice',
    'a beginning': 'inv',
    'typing errors': 'rout invioce',
    'nothing near': 'xylophone zebra',
  }
  const rows = []
  for (const [what, text] of Object.entries(searches)) {
    rows.push(await timeOperation(`store: ${what}`, runs, store(text)))
    rows.push(await timeOperation(`launcherSearch: ${what}`, runs, own(text)))
  }
  rows.push(await timeOperation('launcherSearch: nothing typed', runs, own('')))
  const records = size.installed + size.items + size.notifications + size.links
  return `${size.apps.toLocaleString('en')} apps in the store; ${records.toLocaleString('en')} records of the organization and the person. ${runs} runs of each.

${tableOfOperations(rows, most)}`
}
