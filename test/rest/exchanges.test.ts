import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../platform/ids.ts'
import { routeTables } from '../../router/rest/tables.ts'
import type { Reply } from '../kit/door.ts'
import { agents } from './exchanges/agents.ts'
import { chat } from './exchanges/chat.ts'
import { commerce } from './exchanges/commerce.ts'
import { email } from './exchanges/email.ts'
import type { Exchange } from './exchanges/exchange.ts'
import { identity } from './exchanges/identity.ts'
import { knowledge } from './exchanges/knowledge.ts'
import { launcher } from './exchanges/launcher.ts'
import { media } from './exchanges/media.ts'
import { payments } from './exchanges/payments.ts'
import { planning } from './exchanges/planning.ts'
import { profiles } from './exchanges/profiles.ts'
import { providers } from './exchanges/providers.ts'
import { publishing } from './exchanges/publishing.ts'
import { work } from './exchanges/work.ts'
import { workspace } from './exchanges/workspace.ts'
import { type Recorded, recorded } from './recording.ts'
import { type RestWorld, restWorld, type Who } from './world.ts'

let world: RestWorld
beforeAll(async () => {
  world = await restWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const aPost = async () => (await world.write()).id
const aBrand = async () => (await world.ask('owner', 'POST', '/brands', { name: 'A brand' })).json.id as string

const exchanges: Readonly<Record<string, Exchange>> = Object.assign(
  {},
  // Payments last: its calls to the processor would stand in what the gateway lists of calls, at the same moment as others.
  ...[agents, chat, profiles, knowledge, work, identity, launcher, workspace, providers, email, publishing, planning, media, payments, commerce].map(table =>
    table(() => world),
  ),
)

/** What was asked and answered here, for the examples of the REST document. */
const examples = new Map<string, Recorded>()
const record = (at: string, sent: unknown, answer: Reply) => examples.set(at, recorded(sent, answer, world.graph.clock.now()))

test('every operation route has a recorded exchange', () => {
  const routes = routeTables.flatMap(({ slug, rows }) => rows.flatMap(row => (row.kind === 'operation' ? [`${row.method} /${slug}${row.path}`] : [])))
  expect(Object.keys(exchanges).sort()).toEqual(routes.sort())
})

describe('a route', () => {
  test.each(Object.entries(exchanges))('%s', async (at, { path, body, make, forbidden, by: named, headers, answers, once }) => {
    const by: Who = named ?? 'owner'
    const method = at.split(' ')[0]!
    const id = make ? await make() : ''
    const ask = (who: Who, way = path(id)): Promise<Reply> => world.ask(who, method, way, body?.(), headers?.())
    const problem = (status: number, code: string) => ({
      status,
      headers: { 'content-type': expect.stringMatching(/^application\/problem\+json/) },
      json: { status, code, detail: expect.any(String), requestId: expect.any(String) },
    })
    expect(await ask('nobody')).toMatchObject({ ...problem(401, 'UNAUTHENTICATED'), headers: { 'www-authenticate': 'Bearer' } })
    if (forbidden) expect(await ask(forbidden)).toMatchObject(problem(403, 'FORBIDDEN'))
    // Platform records are refused to all others without disclosing their existence.
    if (by === 'owner' && (make || JSON.stringify(body?.() ?? {}).includes(world.brandId))) {
      expect(await ask('outsider'), 'of another organization').toMatchObject(problem(404, 'NOT_FOUND'))
      if (make) expect((await ask('owner', path(newId()))).json.detail, 'nobody’s').toMatch(/\w/)
    }
    const answer = await ask(by)
    expect(answer).toMatchObject(answers(id))
    // One entry of a list is enough; a list without pages is recorded whole.
    const cut = 'nextCursor' in (answer.json ?? {}) ? await ask(by, `${path(id)}${path(id).includes('?') ? '&' : '?'}first=1`) : answer
    record(at, body?.(), cut.status === 400 ? answer : cut)
    if (once) expect(await ask(by)).toMatchObject(problem(404, 'NOT_FOUND'))
  })

  test('answers another organization’s record with the same message as a missing one', async () => {
    const [theirs, none] = [await aPost(), newId()]
    const detail = async (who: Who, id: string) => (await world.ask(who, 'GET', `/posts/${id}`)).json.detail.replace(id, 'ID')
    expect(await detail('outsider', theirs)).toBe(await detail('owner', none))
  })
})

describe('the examples of the REST document', () => {
  test('of people who sign in, and who may not', async () => {
    const signIn = (password: string) => world.ask('nobody', 'POST', '/identity/api/auth/sign-in/email', { email: 'owner@test.test', password })
    record('POST /identity/api/auth/sign-in/email', { email: 'owner@test.test', password: 'correct horse battery' }, await signIn('correct horse battery'))
    const id = await aPost()
    record('Unauthenticated', undefined, await world.ask('nobody', 'GET', `/posts/${id}`))
    record('Forbidden', undefined, await world.ask('reader', 'PUT', `/posts/${id}`, { copy: 'New' }))
    record('NotFound', undefined, await world.ask('owner', 'GET', `/posts/${newId()}`))
    record('BadUserInput', undefined, await world.ask('owner', 'PUT', `/posts/${id}`, { scheduledAt: 'tomorrow' }))
    record('PreconditionFailed', undefined, await world.ask('owner', 'PUT', `/posts/${id}`, { copy: 'New' }, { 'if-match': '"7"' }))
    expect([...examples.values()].every(({ status }) => status < 500)).toBe(true)
  })

  test('equal the present answers: `npm test -- test/rest/exchanges.test.ts -u`, then `npm run generate`, after an intended change', async ({ skip }) => {
    if (examples.size < Object.keys(exchanges).length) skip('only some of the exchanges were asked for')
    const sorted = Object.fromEntries([...examples].sort(([a], [b]) => (a < b ? -1 : 1)))
    await expect(`${JSON.stringify(sorted, null, 2)}\n`).toMatchFileSnapshot('../../schema/rest-examples.json')
  })
})

describe('S-05 each filter of posts narrows the list', () => {
  test('by brand, thread, status, platform, author and time', async () => {
    const at = (hours: number) => world.graph.clock.in(hours * 3_600_000).toISOString()
    const other = await aBrand()
    const write = async (input: object) =>
      (await world.ask('owner', 'POST', '/posts', { brandId: other, platform: 'x', copy: `Copy ${newId()}`, ...input })).json
    const draft = await write({})
    const early = await write({ scheduledAt: at(1) })
    const late = await write({ scheduledAt: at(3), threadId: early.id })
    const elsewhere = await write({ platform: 'facebook' })
    const all = [draft.id, early.id, late.id, elsewhere.id]
    const found = async (query: string) => {
      const { posts } = (await world.ask('owner', 'GET', `/posts?brandId=${other}&first=100${query}`)).json
      return posts.map(({ id }: { id: string }) => id).sort()
    }
    expect(await found('')).toEqual(all.sort())
    expect(await found(`&threadId=${early.id}`)).toEqual([early.id, late.id].sort())
    expect(await found('&status=scheduled')).toEqual([early.id, late.id].sort())
    expect(await found('&platform=facebook')).toEqual([elsewhere.id])
    expect(await found(`&scheduledAfter=${at(2)}`)).toEqual([late.id])
    expect(await found(`&scheduledBefore=${at(2)}`)).toEqual([early.id])
    expect(await found(`&authorId=${draft.author.id}`)).toEqual(all.sort())
    expect(await found(`&authorId=${newId()}`)).toEqual([])
    expect((await world.ask('owner', 'GET', `/posts?brandId=${world.brandId}&first=100`)).json.posts.map(({ id }: { id: string }) => id)).not.toContain(
      draft.id,
    )
  })
})
