import pg from 'pg'

/** How many brands, and how many posts each has. */
export interface Size {
  /** Of the organization that is asked: it has all brands but one. */
  readonly brands: number
  readonly postsABrand: number
  /** Posts of the one brand that is an organization of its own. */
  readonly postsOfOne: number
  /** Brands of others, with as many posts each. */
  readonly elsewhere: number
  /** Posts whose time has come, of a brand that is paused. */
  readonly overdue: number
}

/** A million of all, a hundred thousand of one organization, and once more of one brand. */
export const million: Size = { brands: 20, postsABrand: 5_000, postsOfOne: 100_000, elsewhere: 160, overdue: 20_000 }

/** Tables that are filled, in the order in which they name each other. */
const tables = [
  'brands',
  'campaigns',
  'media_assets',
  'connections',
  'posts',
  'post_search',
  'post_threads',
  'attempts',
  'post_figures',
  'days_to_sum',
  'figure_snapshots',
  'follower_counts',
  'audit_entries',
  'webhook_endpoints',
  'webhook_deliveries',
]

const id = (text: string) => `md5(${text})::uuid`

/** Brand ids, and how many posts each has, as `b (id, posts)`. */
const brands = (where = 'true') =>
  `(select id, coalesce((description::jsonb ->> 'posts')::int, 0) as posts, description from publishing.brands where ${where}) b`
const ours = `description::jsonb ? 'ours'`

/**
 * Fills the database: nine posts of ten are past, some are held, of unknown outcome, in threads, groups, campaigns, with media and tags.
 * @param now    the moment that everything lies before or behind
 * @param owners organizations of whom the first gets the brands, the second the one
 */
export async function fill(
  url: string,
  { now, owners, size }: { readonly now: Date; readonly owners: readonly [string, string]; readonly size: Size },
): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`set session_replication_role = replica; set maintenance_work_mem = '256MB'; set synchronous_commit = off`)
    const { rows: indexes } = await client.query<{ name: string; definition: string }>(
      `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index i
        where indrelid = any($1::text[]::regclass[]) and not exists (select from pg_constraint c where c.conindid = i.indexrelid)`,
      [tables.map(name => `publishing.${name}`)],
    )
    for (const { name } of indexes) await client.query(`drop index ${name}`)
    for (const [text, values] of statements(now, owners, size)) await client.query(text, values)
    for (const { definition } of indexes) await client.query(definition)
    await client.query('set session_replication_role = origin')
    for (const name of tables) await client.query(`vacuum (analyze) publishing.${name}`)
  } finally {
    await client.end()
  }
}

function statements(now: Date, [first, second]: readonly [string, string], size: Size): readonly (readonly [string, unknown[]])[] {
  const { brands: several, postsABrand, postsOfOne, elsewhere, overdue } = size
  const brand = (key: string, organization: string, from: number, to: number, about: string, paused = 'null::timestamptz') =>
    `select ${id(`'${key}' || n`)}, ${organization}, '${key} ' || n, ${about}, ${paused}, $1::timestamptz, $1::timestamptz, 'bench' from generate_series(${from}, ${to}) n`
  const said = (about: object) => `'${JSON.stringify(about)}'`
  return [
    [
      `insert into publishing.brands (id, organization_id, name, description, paused_at, created_at, updated_at, created_by)
       ${brand('several', '$2::uuid', 1, several, said({ ours: true, posts: postsABrand }))}
       union all ${brand('one', '$3::uuid', 1, 1, said({ ours: true, posts: postsOfOne }))}
       union all ${brand('other', id(`'organization' || n / 20`), 1, elsewhere, said({ posts: postsABrand }))}
       union all ${brand('paused', id(`'organization0'`), 1, 1, said({ posts: 0 }), '$1::timestamptz')}`,
      [now, first, second],
    ],
    [
      `insert into publishing.campaigns (brand_id, id, name, starts_on, ends_on, created_at, updated_at, created_by)
       select b.id, ${id(`b.id || 'campaign' || n`)}, 'Campaign ' || n, to_char($1::timestamptz + n * interval '1 day', 'YYYY-MM-DD'),
         to_char($1::timestamptz + (n + 7) * interval '1 day', 'YYYY-MM-DD'), $1::timestamptz - n * interval '1 hour', $1, 'bench'
       from ${brands(`description::jsonb ? 'posts'`)} cross join generate_series(0, 49) n`,
      [now],
    ],
    [
      `insert into publishing.media_assets (brand_id, id, kind, filename, mime_type, bytes, sha256, alt_text, tags, source, status, created_at, updated_at, created_by)
       select b.id, ${id(`b.id || 'asset' || n`)}, case n % 10 when 0 then 'VIDEO' when 1 then 'GIF' else 'IMAGE' end, 'picture-' || n || '.png',
         case n % 10 when 0 then 'video/mp4' when 1 then 'image/gif' else 'image/png' end, 1000, repeat('0', 64), 'It shows topic' || lpad((n % 997)::text, 4, '0') || 'x',
         array['one-of-fifty-' || n % 50] || case when n % 1000 = 17 then array['rare'] else '{}' end, 'UPLOAD', 'READY',
         $1::timestamptz - n * interval '1 minute', $1, 'bench'
       from ${brands(ours)} cross join lateral generate_series(1, b.posts / 5) n`,
      [now],
    ],
    [
      `insert into publishing.connections (brand_id, id, platform, author_id, external_account_id, account_name, access_token, health, connected_at, created_at, updated_at, created_by)
       select b.id, ${id('b.id || platform')}, platform, ${id(`'author'`)}, 'account of ' || b.id, 'Account', 'sealed.k1.nothing', 'HEALTHY', $1::timestamptz, $1, $1, 'bench'
       from ${brands()} cross join unnest(array['X', 'LINKEDIN', 'LINKEDIN_PAGE', 'FACEBOOK', 'INSTAGRAM', 'THREADS', 'TIKTOK']) platform`,
      [now],
    ],
    [postsSql, [now]],
    [
      `insert into publishing.posts (brand_id, id, thread_id, position, platform, copy, status, scheduled_at, created_at, updated_at, created_by)
       select b.id, ${id(`b.id || 'overdue' || n`)}, ${id(`b.id || 'overdue' || n`)}, 1, 'X', 'It waits ' || n, 'SCHEDULED', $1::timestamptz - n * interval '1 second', $1, $1, 'bench'
       from ${brands('paused_at is not null')} cross join generate_series(1, $2::int) n`,
      [now, overdue],
    ],
    [`insert into publishing.post_search select brand_id, id, created_at, lower(copy || ' ' || coalesce(title, '')), tags from publishing.posts`, []],
    [
      `insert into publishing.post_threads (brand_id, id, created_at, updated_at, created_by)
       select brand_id, thread_id, created_at, created_at, 'bench' from publishing.posts where position = 2`,
      [],
    ],
    [
      `insert into publishing.attempts (brand_id, id, post_id, number, connection_id, platform, external_account_id, copy, started_at, finished_at, outcome, platform_post_id, created_at, updated_at, created_by)
       select p.brand_id, gen_random_uuid(), p.id, 1, p.connection_id, p.platform, p.external_account_id, p.copy, p.published_at, p.published_at, 'DELIVERED', p.platform_post_id, p.published_at, p.published_at, 'delivery'
       from ${brands(ours)} join publishing.posts p on p.brand_id = b.id where p.status = 'PUBLISHED'`,
      [],
    ],
    [
      `insert into publishing.post_figures (brand_id, post_id, published_at, due_at, at, impressions, likes, comments, shares)
       select p.brand_id, p.id, p.published_at, case when p.published_at > $1::timestamptz - interval '30 days' then p.published_at + interval '30 days' end,
         p.published_at, 100, 10, 1, 1 from ${brands(ours)} join publishing.posts p on p.brand_id = b.id where p.status = 'PUBLISHED'`,
      [now],
    ],
    [`insert into publishing.days_to_sum (brand_id, published_at) select b.id, $1 from ${brands(ours)}`, [now]],
    [
      `insert into publishing.figure_snapshots (brand_id, post_id, at, impressions, likes)
       select f.brand_id, f.post_id, f.published_at + n * interval '1 day', n, n from publishing.post_figures f cross join generate_series(1, 3) n`,
      [],
    ],
    [
      `insert into publishing.follower_counts (brand_id, connection_id, day, count)
       select c.brand_id, c.id, to_char($1::timestamptz - n * interval '1 day', 'YYYY-MM-DD'), 1000 + n from publishing.connections c cross join generate_series(0, 99) n`,
      [now],
    ],
    [
      `insert into publishing.audit_entries (tenant_id, id, at, actor, action, subject_id)
       select p.brand_id, (lpad(to_hex((extract(epoch from p.created_at) * 1000)::bigint), 12, '0') || substr(md5(p.id::text || k), 13))::uuid, p.created_at, 'user:' || p.author_id,
         case k when 1 then 'post.created' when 2 then 'post.scheduled' else 'key.used' end, p.id
       from ${brands(ours)} join publishing.posts p on p.brand_id = b.id cross join generate_series(1, 3) k`,
      [],
    ],
    [
      `insert into publishing.webhook_endpoints (brand_id, id, organization_id, url, events, secret, created_at, updated_at, created_by)
       select b.id, ${id(`b.id || 'webhook'`)}, $2, 'https://example.com/hook', '{post.published}', 'sealed.k1.nothing', $1, $1, 'bench' from ${brands(`name = 'one 1'`)}`,
      [now, second],
    ],
    [
      `insert into publishing.webhook_deliveries (brand_id, id, endpoint_id, event, post_id, body, status, attempts, response_status, created_at, updated_at, created_by)
       select e.brand_id, gen_random_uuid(), e.id, 'post.published', p.id, '{}', 'DELIVERED', 1, 204, p.published_at, p.published_at, 'platform'
       from publishing.webhook_endpoints e join publishing.posts p on p.brand_id = e.brand_id where p.status = 'PUBLISHED'`,
      [],
    ],
  ]
}

/** Posts of every brand: n of its kind, the higher the older. */
const postsSql = `
  insert into publishing.posts (brand_id, id, thread_id, position, platform, copy, title, tags, status, approval, scheduled_at, published_at, external_account_id, connection_id,
    platform_post_id, failure_code, failure_message, failed_at, delivery_phase, attempts, held_back, group_id, campaign_id, media, author_id, created_at, updated_at, created_by)
  select b.id, ${id(`b.id || 'post' || n`)},
    ${id(`b.id || 'post' || case when n % 20 = 3 then n - 1 when n % 20 between 10 and 14 then n - n % 20 + 10 else n end`)},
    case when n % 20 = 3 then 2 when n % 20 between 10 and 14 then n % 20 - 9 else 1 end,
    o.platform, 'Post ' || n || ' of some length tells of topic' || lpad((n % 997)::text, 4, '0') || 'x and of theme' || n % 37 || 'y, ' || repeat('and so on, ', 8) || md5(n::text),
    case when n % 4 = 0 then 'A title' end,
    array['one-of-fifty-' || n % 50] || case when n % 2 = 0 then array['often'] else '{}' end || case when n % 5000 = 17 then array['rare'] else '{}' end,
    case when kind in ('SCHEDULED', 'HELD') then 'SCHEDULED' else kind end,
    case when n % 100 = 21 then 'PENDING' when n % 3 = 0 then 'APPROVED' else 'NONE' end,
    case kind when 'SCHEDULED' then $1::timestamptz + n * o.pause when 'DRAFT' then null else $1::timestamptz - n * o.pause end,
    case when kind = 'PUBLISHED' then $1::timestamptz - n * o.pause end,
    'account of ' || b.id, ${id('b.id || o.platform')}, case when kind = 'PUBLISHED' then n::text end,
    case when kind = 'FAILED' then case when n % 500 = 2 then 'OUTCOME_UNKNOWN' else 'NETWORK_REFUSED' end end,
    case when kind = 'FAILED' then 'No.' end, case when kind = 'FAILED' then $1::timestamptz - n * o.pause end,
    case when n % 500 = 2 then 'UNKNOWN' else 'NONE' end, case when kind in ('PUBLISHED', 'FAILED') then 1 else 0 end, kind = 'HELD',
    ${id(`b.id || 'group' || n / 4`)}, case when n % 2 = 0 then ${id(`b.id || 'campaign' || n / 2 % 50`)} end,
    case when n % 3 = 0 then jsonb_build_array(jsonb_build_object('assetId', ${id(`b.id || 'asset' || (n % 1000 + 1)`)}, 'altText', null)) else '[]' end,
    ${id(`'author' || n % 7`)}, $1::timestamptz - n * interval '1 minute', $1::timestamptz - n * interval '1 minute', 'user:author-' || n % 7
  from ${brands()} cross join lateral generate_series(1, b.posts) n
  cross join lateral (select case n % 20 when 0 then 'DRAFT' when 1 then 'SCHEDULED' when 2 then 'FAILED' when 3 then 'HELD' else 'PUBLISHED' end as kind) k
  cross join lateral (select (array['X', 'LINKEDIN', 'LINKEDIN_PAGE', 'FACEBOOK', 'INSTAGRAM', 'THREADS', 'TIKTOK'])[n % 7 + 1] as platform,
    interval '416 days' / greatest(b.posts, 1) as pause) o`
