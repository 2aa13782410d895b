import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../../../platform/ids.ts'
import { settleInvitations } from '../../../../../subgraphs/launcher/dashboard/household/items.ts'
import { personalScopes } from '../../../../../subgraphs/scopes.ts'
import type { Viewer } from '../../../../../subgraphs/viewer.ts'
import { dies } from '../../../../kit/dies.ts'
import { type Supergraph, supergraph } from '../../../../kit/supergraph.ts'
import { key, personally } from '../../../../kit/viewers.ts'

let graph: Supergraph
/** Three people, each in personal context; the first is active in an organization as well. */
let mother: Viewer
let son: Viewer
let stranger: Viewer
let working: Viewer
beforeAll(async () => {
  graph = await supergraph()
})
beforeEach(async () => {
  const { owner, member, outsider } = await graph.seed.owner().member().outsider()
  working = owner
  ;[mother, son, stranger] = [owner, member, outsider].map(viewer => ({ ...personally(viewer), scopes: personalScopes })) as [Viewer, Viewer, Viewer]
  for (const viewer of [mother, son, stranger])
    await graph.rows('update identity.users set email = $2, email_verified = true where id = $1', [viewer.userId, addressOf(viewer)])
})
afterAll(() => graph[Symbol.asyncDispose]())

const addressOf = ({ userId }: Viewer) => `${userId}@home.test`
const ask = (as: Viewer, document: string, variables: object = {}) => graph.execute(document, variables as Record<string, unknown>, { as })
const fields: Readonly<Record<string, string>> = { selectHousehold: 'context selectedHouseholdId selectedHousehold { name }' }
const change = (as: Viewer, name: string, input: object) =>
  ask(as, `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${fields[name] ?? 'id'} } }`, { input })
const write = async (as: Viewer, name: string, input: object) => (await change(as, name, input)).data()[name]
const document = `query($id: ID!) { household(id: $id) { id name version members { role name user { id } } invitations { email role } } }`
const read = async (as: Viewer, id: string) => (await ask(as, document, { id })).data().household
const found = (as: Viewer, name = 'Home'): Promise<string> => write(as, 'createHousehold', { name }).then(({ id }) => id)
const invited = async (householdId: string, viewer: Viewer, role = 'ADULT'): Promise<string> =>
  (await write(mother, 'inviteToHousehold', { householdId, email: addressOf(viewer), role })).id
const joined = async (householdId: string, viewer: Viewer, role = 'ADULT') =>
  write(viewer, 'acceptHouseholdInvitation', { id: await invited(householdId, viewer, role) })
const reasonOf = (answer: Awaited<ReturnType<typeof change>>) => answer.error?.extensions.reason

describe('createHousehold', () => {
  it('makes the viewer its owner, by their own name', async () => {
    const id = await found(mother, 'Garden house')
    const { name } = (await ask(mother, '{ viewer { user { name } } }')).data().viewer.user
    expect(await read(mother, id)).toEqual({
      ...{ id, name: 'Garden house', version: 1, invitations: [] },
      members: [{ role: 'OWNER', name, user: { id: mother.userId } }],
    })
    expect((await ask(mother, '{ households { id } }')).data().households).toEqual([{ id }])
  })

  it('lets five of twenty at once through, and answers a repeated key with the first', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => change(mother, 'createHousehold', { name: `House ${at}` })))
    expect(answers.filter(({ error }) => !error)).toHaveLength(5)
    expect(new Set(answers.filter(({ error }) => error).map(reasonOf))).toEqual(new Set(['LIMIT']))
    const once = { name: 'Once', idempotencyKey: newId() }
    const [one, two] = [await write(son, 'createHousehold', once), await write(son, 'createHousehold', once)]
    expect(two).toEqual(one)
    expect((await ask(son, '{ households { id } }')).data().households).toHaveLength(1)
  })
})

describe('acceptHouseholdInvitation', () => {
  it('makes one membership when twenty accept at once', async () => {
    const id = await found(mother)
    const invitation = await invited(id, son, 'CHILD')
    await graph.clock.advance(1_000)
    const answers = await Promise.all(Array.from({ length: 20 }, () => change(son, 'acceptHouseholdInvitation', { id: invitation })))
    expect(answers.filter(({ error }) => !error)).toHaveLength(1)
    expect(new Set(answers.filter(({ error }) => error).map(reasonOf))).toEqual(new Set(['DECIDED']))
    const { members, invitations, version } = await read(mother, id)
    expect(members.map(({ role, user }: { role: string; user: { id: string } }) => [role, user.id])).toEqual([
      ['OWNER', mother.userId],
      ['CHILD', son.userId],
    ])
    expect([invitations, version]).toEqual([[], 2])
  })

  it('is NOT_FOUND for everybody else, and for an address that is not verified', async () => {
    const invitation = await invited(await found(mother), son)
    expect((await change(stranger, 'acceptHouseholdInvitation', { id: invitation })).code).toBe('NOT_FOUND')
    expect((await change(son, 'acceptHouseholdInvitation', { id: newId() })).code).toBe('NOT_FOUND')
    await graph.rows('update identity.users set email_verified = false where id = $1', [son.userId])
    expect((await change(son, 'acceptHouseholdInvitation', { id: invitation })).code).toBe('NOT_FOUND')
    expect((await ask(son, '{ householdInvitations { id } }')).data().householdInvitations).toEqual([])
  })

  it('refuses an invitation that was declined or has expired', async () => {
    const id = await found(mother)
    const declined = await invited(id, son)
    await write(son, 'declineHouseholdInvitation', { id: declined })
    expect(reasonOf(await change(son, 'acceptHouseholdInvitation', { id: declined }))).toBe('DECIDED')
    const late = await invited(id, son)
    await graph.clock.advance(7 * 86_400_000)
    expect(reasonOf(await change(son, 'acceptHouseholdInvitation', { id: late }))).toBe('DECIDED')
    expect((await ask(son, '{ householdInvitations { id } }')).data().householdInvitations).toEqual([])
    expect((await read(mother, id)).members).toHaveLength(1)
  })

  it('refuses who is in five households, and a household of ten', async () => {
    const id = await found(mother)
    for (let at = 0; at < 5; at += 1) await found(son, `Own ${at}`)
    const invitation = await invited(id, son)
    expect(reasonOf(await change(son, 'acceptHouseholdInvitation', { id: invitation }))).toBe('LIMIT')
    const others = Array.from({ length: 9 }, () => newId())
    await graph.rows(
      `insert into launcher.household_members (household_id, user_id, name, role, joined_at) select $1, person, 'Person', 'ADULT', $3 from unnest($2::uuid[]) person`,
      [...[id, others, graph.clock.now()]],
    )
    expect(reasonOf(await change(stranger, 'acceptHouseholdInvitation', { id: await invited(id, stranger) }))).toBe('LIMIT')
  })
})

describe('inviteToHousehold', () => {
  it('shows the invitation to its address, and mails it once', async () => {
    const id = await found(mother, 'Garden house')
    const first = await invited(id, son)
    expect(await invited(id, son)).toBe(first)
    const listed = '{ householdInvitations { id householdName role status household { id } } }'
    expect((await ask(son, listed)).data().householdInvitations).toEqual([
      { id: first, householdName: 'Garden house', role: 'ADULT', status: 'PENDING', household: null },
    ])
    expect((await ask(stranger, listed)).data().householdInvitations).toEqual([])
    expect((await read(mother, id)).invitations).toEqual([{ email: addressOf(son), role: 'ADULT' }])
    expect(await graph.rows('select kind from launcher.mails where key = $1', [`household-invitation:${first}`])).toEqual([{ kind: 'household-invitation' }])
  })

  it('takes an owner or adult, and an owner to make owners', async () => {
    const id = await found(mother)
    await joined(id, son, 'CHILD')
    const more = { householdId: id, email: 'more@home.test' }
    expect((await change(son, 'inviteToHousehold', { ...more, role: 'CHILD' })).code).toBe('FORBIDDEN')
    expect((await read(son, id)).invitations).toEqual([])
    await write(mother, 'changeHouseholdRole', { householdId: id, userId: son.userId, role: 'ADULT' })
    expect((await change(son, 'inviteToHousehold', { ...more, role: 'OWNER' })).code).toBe('FORBIDDEN')
    await write(son, 'inviteToHousehold', { ...more, role: 'ADULT' })
    expect((await change(son, 'inviteToHousehold', { householdId: id, email: 'nobody', role: 'ADULT' })).code).toBe('BAD_USER_INPUT')
  })

  it('keeps ten open invitations at most', async () => {
    const id = await found(mother)
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => change(mother, 'inviteToHousehold', { householdId: id, email: `guest-${at}@home.test`, role: 'CHILD' })),
    )
    expect(answers.filter(({ error }) => !error)).toHaveLength(10)
    expect(new Set(answers.filter(({ error }) => error).map(reasonOf))).toEqual(new Set(['LIMIT']))
  })
})

describe('mails of invitations', () => {
  /** A household that is made, invites and is deleted again, as somebody does who floods an address. */
  const flood = async (as: Viewer, email: string) => {
    const householdId = await found(as)
    const answer = await change(as, 'inviteToHousehold', { householdId, email, role: 'ADULT' })
    await write(as, 'deleteHousehold', { id: householdId })
    return answer
  }

  const limited = ['RATE_LIMITED', expect.any(Number)]
  const refusal = ({ code, error }: Awaited<ReturnType<typeof flood>>) => [code, error?.extensions.retryAfter]

  it('are ten an hour of one person to one address, and leave it to others', async () => {
    const email = `victim-${newId()}@home.test`
    const answers = []
    for (let at = 0; at < 12; at += 1) answers.push(await flood(mother, email))
    expect(answers.slice(0, 10).filter(({ error }) => error)).toEqual([])
    expect(answers.slice(10).map(refusal)).toEqual([limited, limited])
    expect((await flood(son, email)).error).toBeUndefined()
    await graph.clock.advance(3_600_000)
    expect((await flood(mother, email)).error).toBeUndefined()
  })

  it('are forty an hour to one address, whoever invites it', async () => {
    const email = `victim-${newId()}@home.test`
    expect((await flood(mother, email)).error).toBeUndefined()
    const key = `household address ${createHash('sha256').update(email).digest('base64url')}`
    // What thirty-eight others would have counted.
    await graph.rows('update launcher.rates set count = 39 where key = $1', [key])
    expect((await flood(son, email)).error).toBeUndefined()
    for (const as of [mother, son, stranger]) expect(refusal(await flood(as, email))).toEqual(limited)
    expect((await flood(stranger, `other-${newId()}@home.test`)).error).toBeUndefined()
  })

  it('are thirty an hour of one person', async () => {
    const answers = []
    for (let at = 0; at < 31; at += 1) answers.push(await flood(stranger, `guest-${at}-${newId()}@home.test`))
    expect(answers.slice(0, 30).filter(({ error }) => error)).toEqual([])
    expect(answers[30]?.code).toBe('RATE_LIMITED')
    expect((await flood(mother, `guest-${newId()}@home.test`)).error).toBeUndefined()
  })
})

describe('members of a household', () => {
  it('keep an owner, also when two owners leave at once', async () => {
    const id = await found(mother)
    expect(reasonOf(await change(mother, 'removeHouseholdMember', { householdId: id, userId: mother.userId }))).toBe('LAST_OWNER')
    expect(reasonOf(await change(mother, 'changeHouseholdRole', { householdId: id, userId: mother.userId, role: 'ADULT' }))).toBe('LAST_OWNER')
    await joined(id, son, 'OWNER')
    const leaving = await Promise.all([mother, son].map(viewer => change(viewer, 'removeHouseholdMember', { householdId: id, userId: viewer.userId })))
    expect(leaving.filter(({ error }) => !error)).toHaveLength(1)
    expect(leaving.map(reasonOf)).toContain('LAST_OWNER')
  })

  it('change and remove others as owners alone, and leave by themselves', async () => {
    const id = await found(mother)
    await joined(id, son)
    await joined(id, stranger)
    for (const [name, more] of [
      ['changeHouseholdRole', { role: 'CHILD' }],
      ['removeHouseholdMember', {}],
    ] as const)
      expect((await change(son, name, { householdId: id, userId: stranger.userId, ...more })).code).toBe('FORBIDDEN')
    expect((await change(son, 'updateHousehold', { id, name: 'Mine' })).code).toBe('FORBIDDEN')
    expect((await change(son, 'deleteHousehold', { id })).code).toBe('FORBIDDEN')
    await write(son, 'removeHouseholdMember', { householdId: id, userId: son.userId })
    expect((await ask(son, document, { id })).code).toBe('NOT_FOUND')
    await write(mother, 'removeHouseholdMember', { householdId: id, userId: stranger.userId })
    expect((await change(mother, 'removeHouseholdMember', { householdId: id, userId: stranger.userId })).code).toBe('NOT_FOUND')
    expect((await read(mother, id)).members).toHaveLength(1)
  })

  it('are named as identity names them', async () => {
    const id = await found(mother)
    await ask(mother, 'mutation { updateUser(input: { name: "Another Name" }) { id } }')
    await expect.poll(async () => (await read(mother, id)).members[0].name, { timeout: 20_000 }).toBe('Another Name')
  })
})

describe('updateHousehold and deleteHousehold', () => {
  it('refuse a stale version, and delete a household with everything below it', async () => {
    const id = await found(mother)
    await invited(id, son)
    await write(mother, 'updateHousehold', { id, name: 'Renamed', expectedVersion: 1 })
    expect(reasonOf(await change(mother, 'updateHousehold', { id, name: 'Again', expectedVersion: 1 }))).toBe('STALE_VERSION')
    expect(reasonOf(await change(mother, 'deleteHousehold', { id, expectedVersion: 1 }))).toBe('STALE_VERSION')
    await write(mother, 'deleteHousehold', { id })
    expect((await ask(mother, document, { id })).code).toBe('NOT_FOUND')
    expect((await ask(son, '{ householdInvitations { id } }')).data().householdInvitations).toEqual([])
  })
})

describe('selectHousehold', () => {
  it('is shown in personal context alone, and ends with the membership', async () => {
    const [id, other] = [await found(mother), await found(mother, 'Other')]
    await joined(id, son)
    expect(await write(son, 'selectHousehold', { id })).toEqual({ context: 'PERSONAL', selectedHouseholdId: id, selectedHousehold: { name: 'Home' } })
    expect((await change(son, 'selectHousehold', { id: other })).code).toBe('NOT_FOUND')
    await Promise.all([id, other, id, other].map(each => write(mother, 'selectHousehold', { id: each })))
    expect([id, other]).toContain((await ask(mother, '{ workspace { selectedHouseholdId } }')).data().workspace.selectedHouseholdId)
    expect((await ask(working, '{ workspace { selectedHouseholdId selectedHousehold { id } } }')).data().workspace).toEqual({
      ...{ selectedHouseholdId: null, selectedHousehold: null },
    })
    await write(mother, 'removeHouseholdMember', { householdId: id, userId: son.userId })
    expect((await ask(son, '{ workspace { selectedHouseholdId } }')).data().workspace.selectedHouseholdId).toBe(null)
    expect((await write(mother, 'selectHousehold', { id: null })).selectedHouseholdId).toBe(null)
  })
})

describe('households', () => {
  it('are NOT_FOUND for strangers by every operation', async () => {
    const id = await found(mother)
    expect((await ask(stranger, document, { id })).code).toBe('NOT_FOUND')
    const below = { householdId: id, userId: mother.userId }
    for (const [name, input] of [
      ['updateHousehold', { id, name: 'Mine' }],
      ['deleteHousehold', { id }],
      ['inviteToHousehold', { householdId: id, email: 'a@home.test', role: 'CHILD' }],
      ['changeHouseholdRole', { ...below, role: 'CHILD' }],
      ['removeHouseholdMember', below],
      ['selectHousehold', { id }],
    ] as const)
      expect([name, (await change(stranger, name, input)).code]).toEqual([name, 'NOT_FOUND'])
    expect(await read(mother, id)).toMatchObject({ name: 'Home', version: 1 })
  })

  it('stay in personal context, and no key reaches them', async () => {
    const id = await found(mother)
    const below = { householdId: id, userId: mother.userId }
    for (const [name, input] of [
      ['createHousehold', { name: 'Office' }],
      ['updateHousehold', { id, name: 'Mine' }],
      ['deleteHousehold', { id }],
      ['inviteToHousehold', { householdId: id, email: 'a@home.test', role: 'CHILD' }],
      ['acceptHouseholdInvitation', { id }],
      ['declineHouseholdInvitation', { id }],
      ['withdrawHouseholdInvitation', { id }],
      ['changeHouseholdRole', { ...below, role: 'CHILD' }],
      ['removeHouseholdMember', below],
      ['selectHousehold', { id }],
    ] as const)
      expect([name, reasonOf(await change(working, name, input))]).toEqual([name, 'CONTEXT'])
    for (const query of ['{ households { id } }', '{ householdInvitations { id } }', `{ household(id: "${id}") { id } }`])
      expect(reasonOf(await ask(working, query))).toBe('CONTEXT')
    expect((await ask(key(working.organizationId!, ['launcher:launcher.read']), '{ households { id } }')).code).toBe('UNAUTHORIZED_FIELD_OR_TYPE')
    expect((await read(mother, id)).name).toBe('Home')
  })
})

describe('withdrawHouseholdInvitation', () => {
  it('takes an invitation back once of twenty at a time, and closes the way to answer it', async () => {
    const id = await found(mother)
    const invitation = await invited(id, son)
    const answers = await Promise.all(Array.from({ length: 20 }, () => change(mother, 'withdrawHouseholdInvitation', { id: invitation })))
    expect(answers.map(answer => answer.error?.message)).toEqual(answers.map(() => undefined))
    expect((await read(mother, id)).invitations).toEqual([])
    expect((await ask(son, '{ householdInvitations { id } }')).data().householdInvitations).toEqual([])
    for (const name of ['acceptHouseholdInvitation', 'declineHouseholdInvitation'])
      expect(reasonOf(await change(son, name, { id: invitation }))).toBe('DECIDED')
    expect(
      await graph.rows(
        'select i.status, i.version, a.action from launcher.household_invitations i join launcher.audit_entries a on a.subject_id = i.id where i.id = $1 and a.action like $2',
        [invitation, '%withdrawn'],
      ),
    ).toEqual([{ status: 'WITHDRAWN', version: 2, action: 'household_invitation.withdrawn' }])
    // The address may be invited again.
    expect(await invited(id, son)).not.toBe(invitation)
  })

  it('lets one of an acceptance and a withdrawal through', async () => {
    const id = await found(mother)
    const invitation = await invited(id, son)
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        at % 2 ? change(son, 'acceptHouseholdInvitation', { id: invitation }) : change(mother, 'withdrawHouseholdInvitation', { id: invitation }),
      ),
    )
    const [row] = await graph.rows<{ status: string }>('select status from launcher.household_invitations where id = $1', [invitation])
    expect((await read(mother, id)).members).toHaveLength(row!.status === 'ACCEPTED' ? 2 : 1)
    expect(answers.filter(({ error }) => !error)).toHaveLength(row!.status === 'ACCEPTED' ? 1 : 5)
  })

  it('takes an owner or adult of the household, and an owner where an owner was invited', async () => {
    const id = await found(mother)
    await joined(id, son, 'CHILD')
    const invitation = await invited(id, stranger, 'OWNER')
    expect((await change(son, 'withdrawHouseholdInvitation', { id: invitation })).code).toBe('FORBIDDEN')
    await write(mother, 'changeHouseholdRole', { householdId: id, userId: son.userId, role: 'ADULT' })
    expect((await change(son, 'withdrawHouseholdInvitation', { id: invitation })).code).toBe('FORBIDDEN')
    for (const other of [invitation, newId()]) expect((await change(stranger, 'withdrawHouseholdInvitation', { id: other })).code).toBe('NOT_FOUND')
    const more = (await write(mother, 'inviteToHousehold', { householdId: id, email: 'more@home.test', role: 'CHILD' })).id
    await write(son, 'withdrawHouseholdInvitation', { id: more })
    await write(mother, 'withdrawHouseholdInvitation', { id: invitation })
    await joined(id, stranger)
    expect((await read(mother, id)).members).toHaveLength(3)
  })
})

describe('the action item of an invitation', () => {
  const job = () => graph.platform.launcher.job('test')
  const listed = '{ actionItems(status: [OPEN, DONE, RESOLVED]) { nodes { id app kind status title url dueAt subject { service id } organization { id } } } }'
  const itemsOf = async (as: Viewer) => (await ask(as, listed)).data().actionItems.nodes.filter(({ kind }: { kind: string }) => kind === 'HOUSEHOLD_INVITATION')
  const statusesOf = async (as: Viewer) => (await itemsOf(as)).map(({ status }: { status: string }) => status)
  /** Looks at an invitation after what the invitation itself has begun. */
  const settled = async (id: string, at: Date | null) => {
    await expect
      .poll(async () => {
        await settleInvitations(job())
        return (await graph.rows<{ at: Date | null }>('select settle_at as at from launcher.household_invitations where id = $1', [id]))[0]?.at ?? null
      })
      .toEqual(at)
  }
  const expiry = () => graph.clock.in(7 * 86_400_000)

  it('waits for the person with the verified address, in personal context, and is told live', async () => {
    const id = await found(mother, 'Garden house')
    const changes = await graph.subscribe('subscription { actionQueueChanged { kind status } }', {}, { as: son })
    const invitation = (await write(mother, 'inviteToHousehold', { householdId: id, email: addressOf(son).toUpperCase(), role: 'CHILD' })).id
    await settled(invitation, expiry())
    expect(await itemsOf(son)).toEqual([
      {
        ...{ id: expect.any(String), app: 'launcher', kind: 'HOUSEHOLD_INVITATION', status: 'OPEN', title: 'You are invited to the household “Garden house”' },
        ...{ url: expect.stringMatching(/\/settings\/households$/), dueAt: expiry().toISOString(), organization: null },
        subject: { service: 'launcher', id: invitation },
      },
    ])
    const others = [mother, stranger, working]
    for (const other of others) expect(await itemsOf(other)).toEqual([])
    await write(son, 'acceptHouseholdInvitation', { id: invitation })
    expect(await statusesOf(son)).toEqual(['RESOLVED'])
    for (const status of ['OPEN', 'RESOLVED']) await changes.next(({ actionQueueChanged }) => actionQueueChanged.status === status)
    await settleInvitations(job())
    expect(await statusesOf(son)).toEqual(['RESOLVED'])
  })

  it('is RESOLVED when the invitation is declined, expires, or ends with its household', async () => {
    const id = await found(mother)
    const declined = await invited(id, son)
    await settled(declined, expiry())
    await write(son, 'declineHouseholdInvitation', { id: declined })
    expect(await statusesOf(son)).toEqual(['RESOLVED'])
    await settled(declined, null)
    const withdrawn = await invited(id, stranger)
    await settled(withdrawn, expiry())
    expect(await statusesOf(stranger)).toEqual(['OPEN'])
    await write(mother, 'deleteHousehold', { id })
    expect(await statusesOf(stranger)).toEqual(['RESOLVED'])
    const other = await found(mother)
    const back = await invited(other, stranger)
    await settled(back, expiry())
    await write(mother, 'withdrawHouseholdInvitation', { id: back })
    expect(await statusesOf(stranger)).toEqual(['RESOLVED', 'RESOLVED'])
    await settled(back, null)
    const late = await invited(other, stranger)
    const end = expiry()
    await settled(late, end)
    expect((await statusesOf(stranger)).sort()).toEqual(['OPEN', 'RESOLVED', 'RESOLVED'])
    await graph.clock.advance(end.getTime() - graph.clock.now().getTime())
    await settled(late, null)
    expect(await statusesOf(stranger)).toEqual(['RESOLVED', 'RESOLVED', 'RESOLVED'])
  })

  it('comes within an hour to who verifies the address later, and to nobody while it is not', async () => {
    await graph.rows('update identity.users set email_verified = false where id = $1', [son.userId])
    const invitation = await invited(await found(mother), son)
    await settled(invitation, graph.clock.in(3_600_000))
    expect(await itemsOf(son)).toEqual([])
    await graph.rows('update identity.users set email_verified = true where id = $1', [son.userId])
    const end = graph.clock.in(7 * 86_400_000)
    await graph.clock.advance(3_600_000)
    await settled(invitation, end)
    expect(await statusesOf(son)).toEqual(['OPEN'])
  })

  it('is settled for eight at a time, so that a slow answer of identity holds up few', async () => {
    const id = await found(mother)
    for (let at = 0; at < 9; at += 1) await write(mother, 'inviteToHousehold', { householdId: id, email: `guest-${at}-${newId()}@home.test`, role: 'CHILD' })
    await expect.poll(async () => (await settleInvitations(job()))?.getTime() ?? 0).toBeGreaterThan(graph.clock.now().getTime())
    await graph.rows('update launcher.household_invitations set settle_at = $2 where household_id = $1', [id, graph.clock.now()])
    const work = job()
    const real = work.ask
    let [waiting, most] = [0, 0]
    const together = Promise.withResolvers<void>()
    // Identity answers the first once eight have asked.
    const slow = (async (...args: Parameters<typeof real>) => {
      waiting += 1
      most = Math.max(most, waiting)
      if (most === 8) together.resolve()
      await together.promise
      waiting -= 1
      return real(...args)
    }) as typeof real
    await settleInvitations(Object.create(work, { ask: { value: slow } }) as typeof work)
    expect(most).toBe(8)
    expect(
      await graph.rows('select count(*)::int as due from launcher.household_invitations where household_id = $1 and settle_at <= $2', [id, graph.clock.now()]),
    ).toEqual([{ due: 0 }])
  })

  it('is one however many processes open it, and however often one dies', async () => {
    const invitation = await invited(await found(mother), son)
    await settled(invitation, expiry())
    await graph.rows('delete from launcher.action_items where user_id = $1', [son.userId])
    const again = () => graph.rows('update launcher.household_invitations set settle_at = $2 where id = $1', [invitation, graph.clock.now()])
    await again()
    await dies('launcher-invitation-settled', () => settleInvitations(job()))
    expect(await itemsOf(son)).toEqual([])
    await again()
    await Promise.all([1, 2, 3, 4].map(() => settleInvitations(job())))
    await settled(invitation, expiry())
    expect(await statusesOf(son)).toEqual(['OPEN'])
  })
})
