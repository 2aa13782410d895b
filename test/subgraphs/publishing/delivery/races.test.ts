import { expect, test, vi } from 'vitest'
import { sendComment } from '../../../../subgraphs/publishing/delivery/comment.ts'
import { deliver } from '../../../../subgraphs/publishing/delivery/deliver.ts'
import type { Network } from '../../../../subgraphs/publishing/network/network.ts'
import type { Comment, Delivery, Publication } from '../../../../subgraphs/publishing/network/publication.ts'
import { shared } from '../../../kit/shared.ts'
import { seedMembership } from '../../identity/membership/seed.ts'
import { seedBrand } from '../brand/seed.ts'
import { seedConnection } from '../connection/seed.ts'
import { png } from '../media/files.ts'
import { mediaWorld } from '../media/world.ts'
import { stored } from './delivering.ts'

// What people do while one worker delivers a post and another one would, at each step of the delivery: who wins, what the loser is told,
// and that nothing is left half done. A page of LinkedIn has all of it: pictures that go up first, places to choose from, a first comment.

const platform = 'LINKEDIN_PAGE'
const phases = ['claimed', 'prepared', 'call out', 'comment'] as const
type Phase = (typeof phases)[number]

/** Where one delivery stands still until it is let go on. */
interface Gate {
  readonly word: string
  readonly phase: Phase
  readonly reached: PromiseWithResolvers<void>
  readonly open: PromiseWithResolvers<void>
}

/** The gate of a post, by a word that stands in its text and in its comment, whatever becomes of them. */
const gates = new Map<string, Gate>()

const world = shared(async () => {
  const made = await mediaWorld({ sandbox: true })
  const network = made.graph.job.networks.get(platform)!
  const { prepare, publish, comment } = network as Required<Network>
  const stop = async (text: string, phase: Phase) => {
    const gate = gates.get(/case\d+/.exec(text)?.[0] ?? '')
    if (gate?.phase !== phase) return
    // Whoever comes second is let through.
    gates.delete(gate.word)
    gate.reached.resolve()
    await gate.open.promise
  }
  Object.assign(network, {
    async prepare(...given: Parameters<typeof prepare>) {
      await stop(given[0].copy, 'claimed')
      const ready = await prepare(...given)
      await stop(given[0].copy, 'prepared')
      return ready
    },
    async publish(publication: Publication): Promise<Delivery> {
      const answer = await publish(publication)
      await stop(publication.copy, 'call out')
      return answer
    },
    async comment(given: Comment): Promise<Delivery> {
      const answer = await comment(given)
      await stop(given.text, 'comment')
      return answer
    },
  })
  await seedMembership(made.graph, { organizationId: made.elsewhere.id, userId: made.owner.userId!, role: 'member' })
  return made
})

let count = 0

/** An approved post whose time has come, with a picture, a place and a first comment, of a brand and a connection of its own. */
async function due() {
  const { graph, mutate, http, owner, organization, elsewhere } = world()
  const word = `case${++count}`
  const brand = await seedBrand(graph, { organizationId: organization.id })
  const connection = await seedConnection(graph, { brandId: brand.id, owner }, { platform })
  const uploaded = await http('POST', `/api/media?brandId=${brand.id}&filename=a.png`, { body: png(), as: owner })
  const assetId = uploaded.json.id as string
  const [target, other] = connection.targets.map(({ kind, externalId }) => ({ kind, externalId }))
  const chosen = await mutate('selectConnectionTargets', { id: connection.id, targets: [target, other], default: target }, 'id', owner)
  if (chosen.error) throw new Error(JSON.stringify(chosen.error))
  const input = { brandId: brand.id, platform, copy: `Words of ${word}`, media: [{ assetId }], firstComment: `More of ${word}`, target }
  const { it, error } = await mutate('createPost', { ...input, scheduledAt: graph.clock.soon() }, 'id', owner)
  if (error) throw new Error(JSON.stringify(error))
  await graph.rows(`update publishing.posts set scheduled_at = $2, approval = 'APPROVED' where id = $1`, [it.id, graph.clock.now()])
  return {
    owner,
    brand,
    elsewhere,
    word,
    connection,
    assetId,
    other: other!,
    id: it.id as string,
    key: { brandId: brand.id, id: it.id as string, postId: it.id as string },
  }
}

type Due = Awaited<ReturnType<typeof due>>

/** What each does at the door; a reconnection is what a callback of the network ends in. */
const actions = {
  edit: ({ id, word }) => ['updatePost', { id, copy: `Other words of ${word}` }],
  reschedule: ({ id }) => ['reschedulePost', { id, scheduledAt: world().graph.clock.soon(7_200_000) }],
  revert: ({ id }) => ['updatePost', { id, scheduledAt: null }],
  cancel: ({ id }) => ['cancelPost', { id }],
  delete: ({ id }) => ['deletePost', { id }],
  approve: ({ id }) => ['decidePost', { id, decision: 'APPROVE' }],
  reject: ({ id }) => ['decidePost', { id, decision: 'REJECT', comment: 'Not like this' }],
  hold: ({ id }) => ['decidePost', { id, decision: 'HOLD' }],
  pause: ({ brand }) => ['pauseBrand', { id: brand.id }],
  archive: ({ brand }) => ['archiveBrand', { id: brand.id }],
  transfer: ({ brand, elsewhere }) => ['transferBrand', { id: brand.id, organizationId: elsewhere.id }],
  disconnect: ({ connection }) => ['disconnectConnection', { id: connection.id }],
  reconnect: null,
  target: ({ id, other }) => ['updatePost', { id, target: other }],
  'media delete': ({ assetId }) => ['deleteMediaAsset', { id: assetId }],
} satisfies Record<string, ((made: Due) => readonly [string, object]) | null>

type Action = keyof typeof actions

/** Does it, and tells in a word what its author is answered. */
async function act(action: Action, made: Due): Promise<string> {
  const { graph, mutate } = world()
  const what = actions[action]
  if (!what) {
    await seedConnection(graph, { brandId: made.brand.id, owner: made.owner }, { platform })
    return 'done'
  }
  const [name, input] = what(made)
  const { error } = await mutate(name, input, name === 'decidePost' || name.endsWith('Post') ? 'id status' : 'id', made.owner)
  return error ? `${error.extensions.code} ${error.extensions.reason ?? ''}`.trim() : 'done'
}

/** Runs one case to its end. @returns what the one who acts is told, where the post and its comment stand, and what the network has */
async function race(phase: Phase, action: Action): Promise<string> {
  const { graph } = world()
  const made = await due()
  const gate: Gate = { word: made.word, phase, reached: Promise.withResolvers(), open: Promise.withResolvers() }
  gates.set(made.word, gate)
  const work = async () => {
    await deliver(graph.job, made.key)
    await sendComment(graph.job, made.key)
  }
  const first = work()
  await Promise.race([gate.reached.promise, first.then(() => Promise.reject(new Error(`never came to ${phase}`)))])
  const told = await act(action, made)
  await work()
  gate.open.resolve()
  await first
  return `${told}: ${await stand(made)}`
}

/** Where a post stands, as its row and its network say; what would be half done is an error. */
async function stand({ key, word, connection }: Due): Promise<string> {
  const { graph } = world()
  const received = (await graph.x.at(platform).published()).filter(({ text }) => text.endsWith(word))
  const [posts, comments] = [received.filter(({ text }) => !text.startsWith('More')), received.filter(({ text }) => text.startsWith('More'))]
  const row = (await stored(graph, key)) as Awaited<ReturnType<typeof stored>> | undefined
  const tries = await graph.rows<{ outcome: string | null; copy: string; target: { externalId: string } | null }>(
    'select outcome, copy, target from publishing.attempts where brand_id = $1',
    [key.brandId],
  )
  expect(posts.length, `${word}: posts`).toBeLessThan(2)
  expect(comments.length, `${word}: comments`).toBeLessThan(2)
  // Each call is known, with the words and the place that it was made with, and no other was.
  expect(
    tries.map(({ outcome, copy, target }) => [outcome, copy, target?.externalId]),
    word,
  ).toEqual(posts.map(({ text, target }) => ['DELIVERED', text, target!.id]))
  if (!row) return `gone, ${posts.length} sent`
  const { status, deliveryPhase, claimId, claimUntil, platformPostId, copy, firstCommentStatus, firstCommentId, connectionId } = row
  expect([deliveryPhase, claimId, claimUntil], word).toEqual(['NONE', null, null])
  expect([platformPostId, status === 'PUBLISHED'], word).toEqual([posts[0]?.id ?? null, posts.length === 1])
  if (posts[0]) expect([copy, connectionId], word).toEqual([posts[0].text, connection.id])
  expect([firstCommentId, firstCommentStatus === 'SENT'], word).toEqual([comments[0]?.id ?? null, comments.length === 1])
  const words = posts[0]?.text.startsWith('Other') ? ' other words' : ''
  const place = posts[0] && posts[0].target!.id !== connection.targets[0]!.externalId ? ' elsewhere' : ''
  return `${status}, ${posts.length} sent${words}${place}, comment ${firstCommentStatus}`
}

/** The post goes on as if nothing had happened. */
const asItWas = 'PUBLISHED, 1 sent, comment SENT'
const nothingSent = 'SCHEDULED, 0 sent, comment PENDING'
const [beingSent, isOut] = [`CONFLICT SENDING: ${asItWas}`, `CONFLICT ILLEGAL_MOVE: ${asItWas}`]

/** What the one who acts is told, and what comes of it: before the call, while it is out, and while the comment is. */
const table: Readonly<Record<Action, readonly [before: string, callOut: string, comment: string]>> = {
  edit: ['done: PUBLISHED, 1 sent other words, comment SENT', beingSent, isOut],
  reschedule: [`done: ${nothingSent}`, beingSent, isOut],
  revert: ['done: DRAFT, 0 sent, comment PENDING', beingSent, isOut],
  cancel: ['done: DRAFT, 0 sent, comment PENDING', beingSent, isOut],
  delete: ['done: gone, 0 sent', beingSent, isOut],
  approve: [isOut, beingSent, isOut],
  reject: [`done: ${nothingSent}`, beingSent, isOut],
  hold: [`done: ${nothingSent}`, beingSent, isOut],
  pause: [`done: ${nothingSent}`, 'done: PUBLISHED, 1 sent, comment PENDING', `done: ${asItWas}`],
  archive: [`CONFLICT POSTS_SCHEDULED: ${asItWas}`, `CONFLICT POSTS_SCHEDULED: ${asItWas}`, `done: ${asItWas}`],
  transfer: [`done: ${asItWas}`, `done: ${asItWas}`, `done: ${asItWas}`],
  // The next round finds no connection: the post fails, and its author reads why.
  disconnect: [`done: ${nothingSent}`, 'done: PUBLISHED, 1 sent, comment FAILED', `done: ${asItWas}`],
  reconnect: [`done: ${asItWas}`, `done: ${asItWas}`, `done: ${asItWas}`],
  target: ['done: PUBLISHED, 1 sent elsewhere, comment SENT', beingSent, isOut],
  'media delete': [`CONFLICT IN_USE: ${asItWas}`, `CONFLICT IN_USE: ${asItWas}`, `done: ${asItWas}`],
}
const columnOf = { claimed: 0, prepared: 0, 'call out': 1, comment: 2 } as const satisfies Record<Phase, number>

test.each(
  phases,
)('P-10 two workers and an action of a person in phase "%s": the action succeeds or is rejected with a reason, and nothing is half done', async phase => {
  const names = Object.keys(actions) as Action[]
  const found = await Promise.all(names.map(async name => [name, await race(phase, name)] as const))
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(names.map(name => [name, table[name][columnOf[phase]]])))
})

test('P-06 a post that fails while its brand moves gets its action item in the new organization only, whichever comes first', async () => {
  const { graph } = world()
  const { owner, brand, elsewhere, id, key, word } = await due()
  const gate: Gate = { word, phase: 'call out', reached: Promise.withResolvers(), open: Promise.withResolvers() }
  gates.set(word, gate)
  await graph.x.at(platform).arm({ fault: 'status', status: 422 })
  const sending = deliver(graph.job, key)
  await gate.reached.promise
  // Its conclusion waits for the post, and the move for its conclusion.
  const holder = await graph.database.sequelize.transaction()
  await graph.job.posts.lock(id, holder)
  gate.open.resolve()
  await waits(1)
  const moving = world().mutate('transferBrand', { id: brand.id, organizationId: elsewhere.id }, 'id', owner)
  await waits(2)
  await holder.commit()
  await sending
  expect((await moving).error).toBeNull()
  const told = await graph.rows<{ kind: string; organization: string | null }>(
    `select kind, body ->> 'organizationId' as organization from publishing.facts where receiver = 'launcher' and body ->> 'key' = $1 order by seq`,
    [`post:${id}`],
  )
  expect(told).toEqual([
    { kind: 'attention.opened', organization: brand.organizationId },
    { kind: 'attention.closed', organization: null },
    { kind: 'attention.opened', organization: elsewhere.id },
  ])
})

test('P-06 nothing is written for a brand that moves away at that moment', async () => {
  const { graph, mutate, owner, organization, elsewhere } = world()
  const brand = await seedBrand(graph, { organizationId: organization.id })
  const mover = await graph.database.sequelize.transaction()
  await graph.database.sequelize.query('update publishing.brands set organization_id = $2 where id = $1', {
    bind: [brand.id, elsewhere.id],
    transaction: mover,
  })
  const writing = mutate('createPost', { brandId: brand.id, platform, copy: 'Too late' }, 'id', owner)
  await waits(1)
  await mover.commit()
  expect((await writing).error.extensions.code).toBe('NOT_FOUND')
  expect(await graph.rows('select from publishing.posts where brand_id = $1', [brand.id])).toEqual([])
})

/** Waits until so many of the graph's connections wait for a lock. */
const waits = (count: number) =>
  vi.waitFor(async () => {
    const held = await world().graph.rows(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
    expect(held.length).toBeGreaterThanOrEqual(count)
  })
