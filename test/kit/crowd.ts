import type { Sequelize } from 'sequelize'

/** How much an organization is to hold beside what it holds. */
export interface CrowdSize {
  readonly members: number
  readonly brands: number
  readonly posts: number
  /** Characters of each post, all of them control characters, which JSON writes with six bytes. @default a sentence */
  readonly control?: number
}

/** Fills an organization past every rule, in four statements: for tests of what many rows cost. */
export async function crowd(sequelize: Sequelize, organizationId: string, { members, brands, posts, control }: CrowdSize, at = new Date()): Promise<void> {
  const moment = at.toISOString()
  await sequelize.query(
    `with people as (
       insert into identity.users (id, name, email, email_verified, created_at, updated_at)
       select gen_random_uuid(), 'Person of the crowd ' || n, 'crowd-' || n || '-' || left($1::text, 8) || gen_random_uuid() || '@example.test', true, $3, $3
       from generate_series(1, $2::int) n returning id, name)
     insert into identity.memberships (organization_id, id, user_id, roles, created_at, updated_at, created_by)
     select $1::text::uuid, gen_random_uuid(), id, '{member}', $3::timestamptz + row_number() over (order by name) * interval '1 s', $3::timestamptz, 'platform' from people`,
    { bind: [organizationId, members, moment] },
  )
  await sequelize.query(
    `insert into publishing.brands (id, organization_id, name, created_at, updated_at, created_by)
     select gen_random_uuid(), $1, 'Brand of the crowd ' || n, $3::timestamptz + n * interval '1 s', $3, 'user:nobody' from generate_series(1, $2::int) n`,
    { bind: [organizationId, brands, moment] },
  )
  await sequelize.query(
    `insert into publishing.connections (brand_id, id, platform, author_id, external_account_id, account_name, access_token, connected_at, created_at, updated_at, created_by)
     select b.id, gen_random_uuid(), 'X', gen_random_uuid(), b.id || '-' || n, '@crowd', 'sealed', $2, $2, $2, 'user:nobody'
     from publishing.brands b, generate_series(1, 3) n where b.organization_id = $1`,
    { bind: [organizationId, moment] },
  )
  await sequelize.query(
    `with member as (select user_id, row_number() over (order by created_at) as n from identity.memberships where organization_id = $1),
          brand as (select id, row_number() over (order by created_at) as n from publishing.brands where organization_id = $1),
          new as (select n, gen_random_uuid() as id from generate_series(1, $2::int) n)
     insert into publishing.posts (brand_id, id, thread_id, position, platform, copy, status, author_id, created_at, updated_at, created_by)
     select brand.id, new.id, new.id, 1, 'X', $4, 'DRAFT', member.user_id, $3::timestamptz + new.n * interval '1 s', $3, 'user:nobody'
     from new join brand on brand.n = 1 + new.n % (select count(*) from brand) join member on member.n = 1 + new.n % (select count(*) from member)`,
    { bind: [organizationId, posts, moment, control ? '\u0001'.repeat(control) : 'What one of many has to say.'] },
  )
}
