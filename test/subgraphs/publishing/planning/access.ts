import type { Scope } from '../../../../subgraphs/scopes.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import {
  type AccessRows,
  accounts,
  byScope,
  byScopeEachTheirOwn,
  change,
  type Fresh,
  type Ids,
  publicRoute,
  readPosts,
  row,
  writePosts,
  writers,
} from '../../../access/row.ts'
import { seedBrand } from '../brand/seed.ts'
import { seedPost } from '../post/seed.ts'
import { seedCampaign } from './seed.ts'

const readCalendar: readonly Scope[] = ['publishing:calendar.read']
/** Enough to be answered with the entry that was moved. */
const writeCalendar: readonly Scope[] = ['publishing:calendar.write']
const calendarAndPosts: readonly Scope[] = ['publishing:calendar.read', 'publishing:posts.read']

const restRange = 'from=2099-01-01T00:00:00Z&to=2099-02-01T00:00:00Z'
const campaign = (field: string) => (ids: Ids) => `{ campaign(id: "${ids.campaign}") { ${field} } }`
/** What stands in the calendar of one day, on which there is one entry: the 5th has a post, the 10th a campaign. */
const entries =
  (field: string, day = '05') =>
  (ids: Ids) =>
    `{ calendarEntries(brandId: "${ids.brand}", from: "2099-01-${day}T00:00:00Z", to: "2099-01-${day}T23:00:00Z") { nodes { ${field} } } }`

const freshCampaign: Fresh = async ({ graph, ids }) => (await seedCampaign(graph, { brandId: ids.brand! })).id
const archivedCampaign: Fresh = async ({ graph, ids }) => (await seedCampaign(graph, { brandId: ids.brand!, archivedAt: graph.clock.now() })).id
const plannedPost: Fresh = async ({ graph, owner, ids }) =>
  (await seedPost(graph, { brandId: ids.brand!, owner }, { scheduledAt: graph.clock.in(86_400_000) })).id
const brandWithFeed: Fresh = async ({ graph, owner, ids }) => {
  const { id: brandId } = await seedBrand(graph, { organizationId: ids.organization! })
  ;(await graph.execute(`mutation { createCalendarFeed(input: { brandId: "${brandId}" }) { id } }`, {}, { as: owner })).data()
  return brandId
}

export const access: AccessRows = {
  async made({ graph, owner, outsider, ids }) {
    const brandId = ids.brand!
    const { id } = await seedCampaign(graph, { brandId, startsOn: '2099-01-10' })
    const { id: planned } = await seedPost(graph, { brandId, owner }, { scheduledAt: new Date('2099-01-05T12:00:00Z') })
    const inIt = await graph.job.posts.byId.load(planned)
    await inTransaction(graph.job, ({ transaction }) => graph.job.posts.update(inIt!, { campaignId: id }, transaction))
    const elsewhere = await seedBrand(graph, { organizationId: outsider.organizationId! })
    await seedCampaign(graph, { brandId: elsewhere.id, startsOn: '2099-01-10' })
    return { campaign: id, planned }
  },
  fields: [
    row('Query.campaign', readPosts, accounts, byScope, campaign('id'), 'campaign'),
    row('Query.campaigns', readPosts, accounts, byScope, ({ brand }) => `{ campaigns(brandId: "${brand}") { nodes { id } } }`, 'campaigns'),
    row(
      'Mutation.createCampaign',
      writePosts,
      readPosts,
      writers,
      change('createCampaign', ({ brand }) => `brandId: "${brand}", name: "New"`, 'id'),
      'createCampaign',
    ),
    ...(['updateCampaign', 'archiveCampaign', 'deleteCampaign'] as const).map(name =>
      row(
        `Mutation.${name}`,
        writePosts,
        readPosts,
        writers,
        change(name, ({ fresh }) => `id: "${fresh}"`, 'id'),
        name,
        freshCampaign,
      ),
    ),
    row(
      'Mutation.restoreCampaign',
      writePosts,
      readPosts,
      writers,
      change('restoreCampaign', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'restoreCampaign',
      archivedCampaign,
    ),
    row('Campaign.posts', readPosts, accounts, byScope, campaign('posts { nodes { id } }'), 'campaign.posts'),
    row('Post.campaign', readPosts, accounts, byScope, ({ planned }) => `{ post(id: "${planned}") { campaign { id } } }`, 'post.campaign'),
    row('Query.calendarEntries', readCalendar, accounts, byScope, entries('id'), 'calendarEntries'),
    row('CalendarEntryConnection.nodes', readCalendar, accounts, byScope, entries('id'), 'calendarEntries.nodes'),
    row('CalendarEntry.post', calendarAndPosts, readCalendar, byScope, entries('post { id }'), 'calendarEntries.nodes.post'),
    row('CalendarEntry.campaign', calendarAndPosts, readCalendar, byScope, entries('campaign { id }', '10'), 'calendarEntries.nodes.campaign'),
    row(
      'Mutation.moveCalendarEntry',
      writeCalendar,
      readCalendar,
      writers,
      change('moveCalendarEntry', ({ fresh }) => `id: "${fresh}", at: "2099-06-01T00:00:00Z"`, 'id'),
      'moveCalendarEntry',
      plannedPost,
    ),
    row(
      'Mutation.createCalendarFeed',
      writeCalendar,
      readCalendar,
      writers,
      change('createCalendarFeed', ({ brand }) => `brandId: "${brand}"`, 'id'),
      'createCalendarFeed',
    ),
    ...(['confirmCalendarFeed', 'revokeCalendarFeed'] as const).map(name =>
      row(
        `Mutation.${name}`,
        writeCalendar,
        readCalendar,
        writers,
        change(name, ({ fresh }) => `brandId: "${fresh}"`, 'id'),
        name,
        brandWithFeed,
      ),
    ),
    row(
      'Query.calendarFeed',
      writeCalendar,
      readCalendar,
      writers,
      ({ fresh }) => `{ calendarFeed(brandId: "${fresh}") { id } }`,
      'calendarFeed',
      brandWithFeed,
    ),
  ],
  routes: [
    {
      at: 'GET /publishing/api/campaigns',
      scopes: readPosts,
      less: accounts,
      cells: byScope,
      path: ({ brand }) => `/publishing/api/campaigns?brandId=${brand}`,
    },
    {
      at: 'POST /publishing/api/campaigns',
      scopes: writePosts,
      less: readPosts,
      cells: writers,
      path: () => '/publishing/api/campaigns',
      body: ({ brand: brandId }) => ({ brandId, name: 'New' }),
    },
    { at: 'GET /publishing/api/campaigns/:id', scopes: readPosts, less: accounts, cells: byScope, path: ids => `/publishing/api/campaigns/${ids.campaign}` },
    {
      at: 'PUT /publishing/api/campaigns/:id',
      scopes: writePosts,
      less: readPosts,
      cells: writers,
      path: ({ fresh }) => `/publishing/api/campaigns/${fresh}`,
      body: () => ({ name: 'New' }),
      fresh: freshCampaign,
    },
    {
      at: 'DELETE /publishing/api/campaigns/:id',
      scopes: writePosts,
      less: readPosts,
      cells: writers,
      path: ({ fresh }) => `/publishing/api/campaigns/${fresh}`,
      fresh: freshCampaign,
    },
    {
      at: 'POST /publishing/api/campaigns/:id/archive',
      scopes: writePosts,
      less: readPosts,
      cells: writers,
      path: ({ fresh }) => `/publishing/api/campaigns/${fresh}/archive`,
      fresh: freshCampaign,
    },
    {
      at: 'POST /publishing/api/campaigns/:id/restore',
      scopes: writePosts,
      less: readPosts,
      cells: writers,
      path: ({ fresh }) => `/publishing/api/campaigns/${fresh}/restore`,
      fresh: archivedCampaign,
    },
    {
      at: 'GET /publishing/api/calendar',
      scopes: readCalendar,
      less: accounts,
      cells: byScopeEachTheirOwn,
      path: () => `/publishing/api/calendar?${restRange}`,
    },
    {
      at: 'PUT /publishing/api/calendar/:id',
      scopes: writeCalendar,
      less: readCalendar,
      cells: writers,
      path: ({ fresh }) => `/publishing/api/calendar/${fresh}`,
      body: () => ({ at: '2099-06-01T00:00:00Z' }),
      fresh: plannedPost,
    },
    {
      at: 'POST /publishing/api/calendar/feed',
      scopes: writeCalendar,
      less: readCalendar,
      cells: writers,
      path: () => '/publishing/api/calendar/feed',
      body: ({ brand: brandId }) => ({ brandId }),
    },
    {
      at: 'GET /publishing/api/calendar/feed',
      scopes: writeCalendar,
      less: readCalendar,
      cells: writers,
      path: ({ fresh }) => `/publishing/api/calendar/feed?brandId=${fresh}`,
      fresh: brandWithFeed,
    },
    {
      at: 'POST /publishing/api/calendar/feed/confirm',
      scopes: writeCalendar,
      less: readCalendar,
      cells: writers,
      path: ({ fresh }) => `/publishing/api/calendar/feed/confirm?brandId=${fresh}`,
      fresh: brandWithFeed,
    },
    {
      at: 'DELETE /publishing/api/calendar/feed',
      scopes: writeCalendar,
      less: readCalendar,
      cells: writers,
      path: ({ fresh }) => `/publishing/api/calendar/feed?brandId=${fresh}`,
      fresh: brandWithFeed,
    },
    { at: 'GET /publishing/calendar/:token.ics', scopes: readCalendar, less: accounts, cells: publicRoute, path: () => '/publishing/calendar/none.ics' },
  ],
}
