import { beforeEach, describe, expect, it } from 'vitest'
import { outboxOf } from '../../../../../platform/jobs/facts/outbox.ts'
import { stores } from '../../../../../subgraphs/identity/context.ts'
import { invitationSweep } from '../../../../../subgraphs/identity/membership/invitation/sweep.ts'
import type { Provisioned } from '../../../../../subgraphs/identity/setup/provision.ts'
import { contextsOf } from '../../../../../subgraphs/store/context.ts'
import type { Viewer } from '../../../../../subgraphs/viewer.ts'
import { countStatements } from '../../../../kit/statements.ts'
import { atTheSameMoment, execute, freshIdentity, origin, quotas, userViewer, world } from '../../identity-world.ts'

const open = freshIdentity({ started: true })
let made: Provisioned
let viewers: Record<'owner' | 'admin' | 'ada' | 'outsider' | 'super', Viewer>

beforeEach(async () => {
  made = await open.identity.provision(world)
  await open.database.sequelize.query('delete from identity.facts')
  // Whoever joins from now on has joined after those of the world.
  open.clock.advance(1_000)
  const at = (email: string, slug: string, ...roles: string[]) => userViewer(made.users[email]!, made.organizations[slug]!, roles)
  viewers = {
    owner: at('owner@acme.test', 'acme', 'owner'),
    admin: at('admin@acme.test', 'acme', 'admin'),
    ada: at('ada@acme.test', 'acme', 'member'),
    outsider: at('out@other.test', 'other', 'owner'),
    super: at('super@admin.test', 'admin', 'platform_super_admin'),
  }
})

const run = (viewer: Viewer, source: string, variables?: Record<string, unknown>) => execute(open.identity, viewer, source, variables)
const read = async (sql: string) => (await open.database.sequelize.query(sql))[0] as Record<string, unknown>[]
const facts = async (kind: string) =>
  (await read(`select body from identity.facts where kind = '${kind}' order by id`)).map(({ body }) => body as Record<string, unknown>)
const audit = async () => (await read(`select action, actor, subject_id from identity.audit_entries order by at, id`)).map(({ action }) => action)

const fields = 'id email roles status expiresAt version organization { slug } invitedBy { name }'
const invite = `mutation($email: EmailAddress!, $roles: [Role!]!, $key: String) { inviteMember(input: { email: $email, roles: $roles, idempotencyKey: $key }) { ${fields} } }`
const on = (mutation: string) => `mutation($id: ID!) { ${mutation}(input: { id: $id }) { ${fields} } }`
const list = `query($status: InvitationStatus, $first: Int, $after: String) { invitations(status: $status, first: $first, after: $after) { totalCount nodes { ${fields} } pageInfo { endCursor hasNextPage } } }`
const received = `{ receivedInvitations { ${fields} } }`
const memberships = '{ memberships { nodes { roles organization { slug } } } }'
const [stranger, week] = ['new@example.test', 7 * 24 * 3_600_000]

const inviting = async (email: string, roles: readonly string[] = ['MEMBER'], as: Viewer = viewers.owner) =>
  (await run(as, invite, { email, roles })).data().inviteMember
const codeOf = (email: string) => open.mailbox.code(email, 'invitation')

/** What an operation itself asks, without the jobs that run beside it. */
const own = (statements: readonly string[]) => statements.filter(text => !/identity_jobs|identity\.(?:mails|facts)|^(?:START|COMMIT|ROLLBACK)/.test(text))

/** Looks at invitations as the platform does every few seconds. */
const sweep = () => {
  const { sequelize } = open.database
  const telling = { slug: 'identity', receivers: ['launcher'], outbox: outboxOf('identity'), log: { info() {} }, wake() {} } as const
  const contexts = contextsOf('identity', stores, { clock: open.clock }, { sequelize, clock: open.clock }, telling)
  return invitationSweep(() => contexts.systemContext('platform') as never, origin).run()
}

describe('an invitation', () => {
  it('I-01 is mailed to an address, and visible to managers only', async () => {
    const invitation = await inviting('New@Example.test', ['VIEWER', 'MEMBER'])
    expect(invitation).toMatchObject({
      email: stranger,
      roles: ['MEMBER', 'VIEWER'],
      status: 'PENDING',
      version: 1,
      organization: { slug: 'acme' },
      invitedBy: { name: 'Olga Owner' },
      expiresAt: new Date(open.clock.now().getTime() + week).toISOString(),
    })
    expect(await codeOf(stranger)).toMatch(/^[\w-]{43}$/)
    expect((await run(viewers.admin, list)).data().invitations.nodes).toEqual([invitation])
    expect((await run(viewers.ada, list)).code).toBe('FORBIDDEN')
    expect((await run(viewers.outsider, list)).data().invitations.nodes).toEqual([])
    expect(await audit()).toEqual(['invitation.created'])
  })

  it('I-01 is created with the same answer and statements, whether the address has an account', async () => {
    const told = async (email: string) => {
      const { result, statements } = await countStatements(() => run(viewers.owner, invite, { email, roles: ['VIEWER'] }))
      const { id: _id, email: _email, ...rest } = result.data().inviteMember
      return { rest, statements: own(statements).length }
    }
    expect(await told('out@other.test')).toEqual(await told(stranger))
  })

  it.each([
    ['a member', () => 'ada@acme.test', 'MEMBER'],
    ['an address that was invited already', () => stranger, 'PENDING'],
  ])('is refused for %s', async (_, email, reason) => {
    await inviting(stranger)
    expect((await run(viewers.admin, invite, { email: email().toUpperCase(), roles: ['VIEWER'] })).refused('CONFLICT').extensions.reason).toBe(reason)
  })

  it('is created by managers only, with roles that they may grant, for addresses that could sign in', async () => {
    const tried = async (as: Viewer, roles: readonly string[], email = stranger) => (await run(as, invite, { email, roles })).code
    expect(await tried(viewers.ada, ['VIEWER'])).toBe('FORBIDDEN')
    expect(await tried(viewers.admin, ['OWNER'])).toBe('FORBIDDEN')
    expect(await tried(viewers.owner, ['PLATFORM_ADMIN'])).toBe('FORBIDDEN')
    expect(await tried(viewers.owner, [])).toBe('BAD_USER_INPUT')
    expect(await tried(viewers.owner, ['VIEWER'], 'new@localhost')).toBe('BAD_USER_INPUT')
    expect(await tried({ ...viewers.owner, organizationId: null }, ['VIEWER'])).toBe('FORBIDDEN')
    expect(await read('select id from identity.invitations')).toEqual([])
    expect(await read('select id from identity.mails')).toEqual([])
  })

  it('is created once for each key of the caller, also by 20 at once for one address', async () => {
    const once = { email: stranger, roles: ['VIEWER'], key: 'the one' }
    const [first, again] = [await run(viewers.owner, invite, once), await run(viewers.owner, invite, once)]
    expect(again.data()).toEqual(first.data())
    const all = await Promise.all(Array.from({ length: 20 }, () => run(viewers.owner, invite, { email: 'other@example.test', roles: ['VIEWER'] })))
    expect(all.filter(({ code }) => code === undefined)).toHaveLength(1)
    expect(await read('select count(*)::int as n from identity.invitations')).toEqual([{ n: 2 }])
  })

  it('counts towards the pending ones, and towards those of a day', async () => {
    for (let at = 0; at < quotas.pendingInvitations; at++) await inviting(`n${at}@example.test`)
    const full = (await run(viewers.owner, invite, { email: stranger, roles: ['VIEWER'] })).refused('CONFLICT')
    expect(full.extensions.reason).toBe('QUOTA')
    for (const { id } of (await run(viewers.owner, list)).data().invitations.nodes) (await run(viewers.owner, on('revokeInvitation'), { id })).data()
    while ((await run(viewers.owner, list)).data().invitations.totalCount < quotas.invitationsADay) await inviting(`m${Math.random()}@example.test`)
    expect((await run(viewers.owner, invite, { email: stranger, roles: ['VIEWER'] })).refused('RATE_LIMITED').extensions.retryAfter).toBe(24 * 3600)
    open.clock.advance(24 * 3_600_000 + 1)
    expect((await inviting(stranger)).status).toBe('PENDING')
  })

  it('counts for the inviting person too, over all organizations, also concurrently', async () => {
    const found = async (slug: string) => {
      const { id } = (
        await run(viewers.owner, 'mutation($name: String!, $slug: String!) { createOrganization(input: { name: $name, slug: $slug }) { id } }', {
          name: slug,
          slug,
        })
      ).data().createOrganization
      return { ...viewers.owner, organizationId: id as string }
    }
    const [one, two] = [await found('one-more'), await found('two-more')]
    const all = await Promise.all(
      [viewers.owner, one, two].flatMap((as, at) => [0, 1, 2].map(turn => run(as, invite, { email: `p${at}${turn}@example.test`, roles: ['VIEWER'] }))),
    )
    expect(all.filter(({ code }) => code === undefined)).toHaveLength(quotas.invitationsADay)
    expect(all.filter(({ code }) => code === 'RATE_LIMITED')).toHaveLength(9 - quotas.invitationsADay)
    expect((await run(viewers.admin, invite, { email: 'other@example.test', roles: ['VIEWER'] })).code).toBeUndefined()
  })

  it('is sent again with seven days anew, which ends the code of before', async () => {
    const { id } = await inviting(stranger)
    const former = await codeOf(stranger)
    open.clock.advance(3_600_000)
    expect((await run(viewers.admin, on('resendInvitation'), { id })).data().resendInvitation).toMatchObject({
      version: 2,
      expiresAt: new Date(open.clock.now().getTime() + week).toISOString(),
    })
    await expect.poll(() => codeOf(stranger)).not.toBe(former)
    expect(await read('select count(*)::int as n from identity.codes')).toEqual([{ n: 1 }])
    expect((await run(viewers.ada, on('resendInvitation'), { id })).code).toBe('FORBIDDEN')
    expect((await run(viewers.outsider, on('resendInvitation'), { id })).code).toBe('NOT_FOUND')
    expect(await audit()).toEqual(['invitation.created', 'invitation.resent'])
  })

  it('is revoked by managers, with its code', async () => {
    const { id } = await inviting('out@other.test')
    expect((await run(viewers.outsider, on('revokeInvitation'), { id })).code).toBe('NOT_FOUND')
    expect((await run(viewers.ada, on('revokeInvitation'), { id })).code).toBe('FORBIDDEN')
    expect((await run(viewers.admin, on('revokeInvitation'), { id })).data().revokeInvitation).toMatchObject({ status: 'REVOKED', version: 2 })
    expect(await read('select id from identity.codes')).toEqual([])
    for (const again of ['revokeInvitation', 'resendInvitation'])
      expect((await run(viewers.owner, on(again), { id })).refused('CONFLICT').extensions.reason).toBe('REVOKED')
    expect((await run(viewers.outsider, on('acceptInvitation'), { id })).refused('CONFLICT').extensions.reason).toBe('REVOKED')
    expect((await run(viewers.outsider, received)).data().receivedInvitations).toEqual([])
    expect((await inviting('out@other.test')).status).toBe('PENDING')
  })
})

describe('an invited person', () => {
  it('I-01 sees the invitation by the verified address, with the organization’s name and without the inviter', async () => {
    const { id } = await inviting('out@other.test', ['VIEWER'])
    await inviting(stranger)
    const { receivedInvitations } = (await run(viewers.outsider, received)).data()
    expect(receivedInvitations).toEqual([expect.objectContaining({ id, status: 'PENDING', organization: { slug: 'acme' }, invitedBy: null })])
    await open.database.sequelize.query(`update identity.users set email_verified = false where email = 'out@other.test'`)
    expect((await run(viewers.outsider, received)).data().receivedInvitations).toEqual([])
    expect((await run(viewers.outsider, on('acceptInvitation'), { id })).code).toBe('NOT_FOUND')
  })

  it('I-01 joins by accepting, once, and stays where the session is', async () => {
    const { id } = await inviting('out@other.test', ['VIEWER'])
    expect((await run(viewers.outsider, on('acceptInvitation'), { id })).data().acceptInvitation).toMatchObject({ id, status: 'ACCEPTED', version: 2 })
    expect((await run(viewers.outsider, memberships)).data().memberships.nodes).toEqual([
      { roles: ['OWNER'], organization: { slug: 'other' } },
      { roles: ['VIEWER'], organization: { slug: 'acme' } },
    ])
    expect((await run(viewers.outsider, on('acceptInvitation'), { id })).data().acceptInvitation).toMatchObject({ status: 'ACCEPTED', version: 2 })
    expect((await run(viewers.outsider, on('declineInvitation'), { id })).refused('CONFLICT').extensions.reason).toBe('ACCEPTED')
    expect((await audit()).sort()).toEqual(['invitation.accepted', 'invitation.created', 'membership.added'])
    expect(await read('select id from identity.codes')).toEqual([])
    expect(await facts('membership.added')).toEqual([
      expect.objectContaining({ organizationId: made.organizations.acme, userId: viewers.outsider.userId, userKind: 'HUMAN', roles: ['viewer'] }),
    ])
  })

  it('I-01 gets one membership, however often the invitation is accepted at once', async () => {
    const { id } = await inviting('out@other.test', ['VIEWER'])
    const all = await atTheSameMoment(
      open.database,
      'identity.memberships',
      Array.from({ length: 4 }, () => () => run(viewers.outsider, on('acceptInvitation'), { id })),
    )
    const more = await Promise.all(Array.from({ length: 20 }, () => run(viewers.outsider, on('acceptInvitation'), { id })))
    expect([...all, ...more].map(answer => answer.data().acceptInvitation.status)).toEqual(Array(24).fill('ACCEPTED'))
    expect(await read(`select count(*)::int as n from identity.memberships where user_id = '${viewers.outsider.userId}'`)).toEqual([{ n: 2 }])
    expect(await facts('membership.added')).toHaveLength(1)
  })

  it('may decline, and is invited again', async () => {
    const { id } = await inviting('out@other.test')
    expect((await run(viewers.outsider, on('declineInvitation'), { id })).data().declineInvitation).toMatchObject({ status: 'DECLINED', version: 2 })
    expect((await run(viewers.outsider, on('declineInvitation'), { id })).data().declineInvitation.version).toBe(2)
    expect((await run(viewers.outsider, on('acceptInvitation'), { id })).refused('CONFLICT').extensions.reason).toBe('DECLINED')
    expect(await read('select id from identity.codes')).toEqual([])
    expect((await inviting('out@other.test')).id).not.toBe(id)
    expect((await run(viewers.owner, list, { status: 'DECLINED' })).data().invitations.nodes.map((each: { id: string }) => each.id)).toEqual([id])
  })

  it('gets the same error for another person’s invitation as for an unknown one', async () => {
    const { id } = await inviting(stranger)
    const of = async (id: string) => (await run(viewers.outsider, on('acceptInvitation'), { id })).refused('NOT_FOUND')
    const foreign = await of(id)
    expect(await of(made.organizations.acme!)).toEqual(foreign)
    expect((await run(viewers.owner, on('declineInvitation'), { id })).code).toBe('NOT_FOUND')
  })

  it('cannot join a full organization, and can once there is room', async () => {
    const { id } = await inviting('out@other.test')
    const account = 'mutation($name: String!) { createServiceAccount(input: { name: $name, roles: [VIEWER] }) { id } }'
    const seats = [await run(viewers.owner, account, { name: 'a' }), await run(viewers.owner, account, { name: 'b' })]
    expect((await run(viewers.outsider, on('acceptInvitation'), { id })).refused('CONFLICT').extensions.reason).toBe('QUOTA')
    await run(viewers.owner, 'mutation($id: ID!) { removeMember(input: { id: $id }) { id } }', { id: seats[0]!.data().createServiceAccount.id })
    expect((await run(viewers.outsider, on('acceptInvitation'), { id })).data().acceptInvitation.status).toBe('ACCEPTED')
  })

  it('keeps the roles of a membership obtained in another way meanwhile', async () => {
    const { id } = await inviting('super@admin.test', ['ADMIN'])
    const add = 'mutation { addMember(input: { email: "super@admin.test", roles: [VIEWER] }) { id } }'
    await run({ ...viewers.super, organizationId: made.organizations.acme!, roles: ['owner'] }, add)
    expect((await run(viewers.super, on('acceptInvitation'), { id })).data().acceptInvitation.status).toBe('ACCEPTED')
    expect((await run(viewers.super, memberships)).data().memberships.nodes[1]).toEqual({ roles: ['VIEWER'], organization: { slug: 'acme' } })
  })
})

describe('an unanswered invitation', () => {
  it('has expired after seven days, whether that was written or not, and may be invited anew', async () => {
    const { id } = await inviting('out@other.test')
    open.clock.advance(week)
    const statuses = async () =>
      Promise.all(['PENDING', 'EXPIRED'].map(async status => (await run(viewers.owner, list, { status })).data().invitations.totalCount))
    expect(await statuses()).toEqual([0, 1])
    expect((await run(viewers.outsider, received)).data().receivedInvitations).toEqual([])
    expect((await run(viewers.outsider, on('acceptInvitation'), { id })).refused('CONFLICT').extensions.reason).toBe('EXPIRED')
    expect((await run(viewers.owner, on('resendInvitation'), { id })).refused('CONFLICT').extensions.reason).toBe('EXPIRED')
    await sweep()
    expect(await read('select status, version from identity.invitations')).toEqual([{ status: 'expired', version: 2 }])
    expect(await statuses()).toEqual([0, 1])
    const again = await inviting('out@other.test')
    open.clock.advance(week)
    const third = await inviting('out@other.test')
    expect([again.status, third.status]).toEqual(['PENDING', 'PENDING'])
    expect(await statuses()).toEqual([1, 2])
  })
})

describe('action items of invitations', () => {
  const opened = async () => (await facts('attention.opened')).map(({ userId, subjectId }) => [userId, subjectId] as const)
  const closed = async () => (await facts('attention.closed')).map(({ key }) => key)

  it('of invitations to their verified address, once, also when it is verified later', async () => {
    const { id } = await inviting('out@other.test')
    const later = await inviting('super@admin.test')
    await open.database.sequelize.query(`update identity.users set email_verified = false where email = 'super@admin.test'`)
    await inviting(stranger)
    await sweep()
    await sweep()
    expect(await facts('attention.opened')).toEqual([
      {
        key: `invitation:${id}`,
        kind: 'INVITATION_RECEIVED',
        organizationId: null,
        subjectId: id,
        title: 'You are invited to join Acme',
        url: `${origin}/identity/invitation`,
        at: open.clock.now().toISOString(),
        audience: 'person',
        userId: viewers.outsider.userId,
        dueAt: new Date(open.clock.now().getTime() + week).toISOString(),
      },
    ])
    await open.database.sequelize.query(`update identity.users set email_verified = true where email = 'super@admin.test'`)
    await sweep()
    expect(new Map(await opened())).toEqual(
      new Map([
        [viewers.outsider.userId, id],
        [viewers.super.userId, later.id],
      ]),
    )
  })

  it.each(['acceptInvitation', 'declineInvitation', 'revokeInvitation'])('that one waits no more after %s', async mutation => {
    const { id } = await inviting('out@other.test')
    await sweep()
    await run(mutation === 'revokeInvitation' ? viewers.owner : viewers.outsider, on(mutation), { id })
    expect(await closed()).toEqual([`invitation:${id}`])
    await sweep()
    expect(await opened()).toHaveLength(1)
  })

  it('close when the invitation expires', async () => {
    const { id } = await inviting('out@other.test')
    await sweep()
    open.clock.advance(week)
    await sweep()
    expect(await closed()).toEqual([`invitation:${id}`])
  })
})

describe('lists of invitations', () => {
  it('are paged, with the same number of statements for any length', async () => {
    for (let at = 0; at < quotas.pendingInvitations; at++) {
      await inviting(`n${at}@example.test`)
      open.clock.advance(1)
    }
    const first = (await run(viewers.owner, list, { first: 3 })).data().invitations
    expect([first.totalCount, first.nodes.length, first.pageInfo.hasNextPage]).toEqual([4, 3, true])
    const rest = (await run(viewers.owner, list, { first: 3, after: first.pageInfo.endCursor })).data().invitations
    expect([...first.nodes, ...rest.nodes].map(({ email }: { email: string }) => email)).toEqual([3, 2, 1, 0].map(at => `n${at}@example.test`))
    for (const size of [1, 4]) {
      const { statements } = await countStatements(() => run(viewers.owner, list, { first: size }))
      expect(own(statements)).toHaveLength(4)
    }
    expect((await run(viewers.owner, list, { after: 'x' })).code).toBe('BAD_USER_INPUT')
  })
})
