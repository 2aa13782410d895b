import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, accounts, byScope, byScopeEachTheirOwn, change, figures, type Ids, readPosts, row } from '../../../access/row.ts'
import { seedBrand } from '../brand/seed.ts'
import { seedConnection } from '../connection/seed.ts'
import { seedPost } from '../post/seed.ts'

const analytics: readonly Scope[] = ['publishing:analytics.read']
const analyticsAndPosts: readonly Scope[] = ['publishing:analytics.read', 'publishing:posts.read']
const dashboardAnd = (scope: Scope): readonly Scope[] => ['publishing:dashboard.read', scope]
const range = 'from: "2027-01-01T00:00:00Z", to: "2027-12-01T00:00:00Z"'
const restRange = 'from=2027-01-01T00:00:00Z&to=2027-12-01T00:00:00Z'
const brand = (field: string) => (ids: Ids) => `{ brandAnalytics(brandId: "${ids.counted}", ${range}) { ${field} } }`
const dashboard = (field: string) => (ids: Ids) => `{ publishingDashboard(brandId: "${ids.counted}") { ${field} } }`
const refresh = 'refused yes refused yes yes yes hidden'

export const access: AccessRows = {
  async made({ graph, owner, ids }) {
    const { id: counted } = await seedBrand(graph, { organizationId: ids.organization! })
    const place = { brandId: counted, owner }
    const past = { status: 'PUBLISHED' as const, publishedAt: new Date('2027-03-01T09:00:00Z'), platformPostId: '4711' }
    const { id: shown } = await seedPost(graph, place, { row: past })
    await seedPost(graph, place, { row: { status: 'SCHEDULED', scheduledAt: graph.clock.in(86_400_000) } })
    const { id: connection } = await seedConnection(graph, place)
    await graph.rows(`update publishing.connections set health = 'EXPIRING' where id = $1`, [connection])
    await graph.rows(`insert into publishing.post_figures (brand_id, post_id, published_at, at, likes) values ($1, $2, $3, $3, 1)`, [
      counted,
      shown,
      past.publishedAt,
    ])
    await graph.rows('insert into publishing.figure_snapshots (brand_id, post_id, at, likes) values ($1, $2, $3, 1)', [counted, shown, past.publishedAt])
    await graph.rows('insert into publishing.follower_counts (brand_id, connection_id, day, count) values ($1, $2, $3, 1)', [
      counted,
      connection,
      past.publishedAt.toISOString().slice(0, 10),
    ])
    return { counted, shown }
  },
  fields: [
    row('Query.brandAnalytics', analytics, readPosts, byScope, brand('brandId'), 'brandAnalytics'),
    row('Query.postAnalytics', analytics, readPosts, byScope, ({ shown }) => `{ postAnalytics(id: "${shown}") { postId } }`, 'postAnalytics'),
    row(
      'Mutation.refreshPostAnalytics',
      analytics,
      readPosts,
      refresh,
      change('refreshPostAnalytics', ({ fresh }) => `id: "${fresh}"`, 'postId'),
      'refreshPostAnalytics',
      async ({ graph, owner, ids }) =>
        (
          await seedPost(
            graph,
            { brandId: ids.counted!, owner },
            { row: { status: 'PUBLISHED', publishedAt: graph.clock.now(), platformPostId: crypto.randomUUID() } },
          )
        ).id,
    ),
    row('Post.analytics', analyticsAndPosts, readPosts, byScope, ({ shown }) => `{ post(id: "${shown}") { analytics { postId } } }`, 'post.analytics'),
    row('TopPost.post', analyticsAndPosts, analytics, byScope, brand('topPosts { post { id } }'), 'brandAnalytics.topPosts.post'),
    row('Query.publishingDashboard', figures, accounts, byScope, dashboard('failed'), 'publishingDashboard'),
    row(
      'PublishingDashboard.attention',
      dashboardAnd('publishing:accounts.read'),
      figures,
      byScope,
      dashboard('attention { id }'),
      'publishingDashboard.attention',
    ),
    row('PublishingDashboard.next', dashboardAnd('publishing:posts.read'), figures, byScope, dashboard('next { id }'), 'publishingDashboard.next'),
  ],
  routes: [
    { at: 'GET /publishing/api/dashboard', scopes: figures, less: accounts, cells: byScopeEachTheirOwn, path: () => '/publishing/api/dashboard' },
    {
      at: 'GET /publishing/api/analytics',
      scopes: analytics,
      less: readPosts,
      cells: byScope,
      path: ({ counted }) => `/publishing/api/analytics?brandId=${counted}&${restRange}`,
    },
    {
      at: 'GET /publishing/api/analytics.csv',
      scopes: analytics,
      less: readPosts,
      cells: byScope,
      path: ({ counted }) => `/publishing/api/analytics.csv?brandId=${counted}&${restRange}`,
    },
    {
      at: 'GET /publishing/api/posts/:id/analytics',
      scopes: analytics,
      less: readPosts,
      cells: byScope,
      path: ({ shown }) => `/publishing/api/posts/${shown}/analytics`,
    },
    {
      at: 'POST /publishing/api/posts/:id/analytics/refresh',
      scopes: analytics,
      less: readPosts,
      cells: refresh,
      path: ({ fresh }) => `/publishing/api/posts/${fresh}/analytics/refresh`,
      fresh: async ({ graph, owner, ids }) =>
        (
          await seedPost(
            graph,
            { brandId: ids.counted!, owner },
            { row: { status: 'PUBLISHED', publishedAt: graph.clock.now(), platformPostId: crypto.randomUUID() } },
          )
        ).id,
    },
  ],
}
