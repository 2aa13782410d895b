import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Delivery } from '../../../../subgraphs/publishing/network/publication.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { shared } from '../../../kit/shared.ts'
import { supergraph } from '../../../kit/supergraph.ts'
import { wake } from '../delivery/delivering.ts'

// Whatever people do with posts, their threads and those who approve, in whatever order, a plain model says beforehand what each of them
// is answered and where every post stands then. It knows the contract, and none of our rules.

type Status = 'DRAFT' | 'SCHEDULED' | 'PUBLISHED' | 'FAILED'
type Approval = 'NONE' | 'PENDING' | 'APPROVED' | 'CHANGES_REQUESTED' | 'REJECTED'
type Mode = 'NONE' | 'OPTIONAL' | 'REQUIRED'
type Decision = 'APPROVE' | 'REQUEST_CHANGES' | 'REJECT' | 'HOLD' | 'RELEASE'
type End = 'delivered' | 'refused' | 'unknown'

/** A post as the model has it. */
interface Post {
  status: Status
  approval: Approval
  held: boolean
  /** Whether nobody knows if the network has it. */
  isOpen: boolean
  /** When it is due, in hours; null without a time. */
  at: number | null
  copy: string
  version: number
}

interface Model {
  mode: Mode
  /** Hours that have passed. */
  hour: number
  /** Threads in the order in which they were begun, each with its posts in theirs: names that the tests give them. */
  threads: string[][]
  posts: Map<string, Post>
  written: number
}

interface Real {
  readonly owner: Viewer
  readonly brandId: string
  /** Ids of posts by their names, and of their threads. */
  readonly ids: Map<string, string>
  readonly heads: Map<string, string>
  /** How the network answers from now on. */
  answer: End
}

const world = shared(() => supergraph({ sandbox: true }))
const hourMs = 3_600_000
let published = 0

/** What is told of an operation that is refused. */
class No extends Error {}

const ask = async ({ owner }: Real, name: string, input: object, fields = 'id') => {
  const document = `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${fields} } }`
  const { data, errors } = (await world().execute(document, { input }, { as: owner })).partial
  if (errors[0]) throw new No(String(errors[0].extensions.reason ?? errors[0].extensions.code))
  return data![name]
}

/** Why people may do nothing with a post at this moment. */
const closed = (post: Post): string | null => (post.isOpen ? 'OUTCOME_UNKNOWN' : post.status === 'PUBLISHED' ? 'ILLEGAL_MOVE' : null)

/** What those who approve make of it: from, by, to. */
const decided: Readonly<Record<string, Approval>> = {
  'NONE SUBMIT': 'PENDING',
  'CHANGES_REQUESTED SUBMIT': 'PENDING',
  'REJECTED SUBMIT': 'PENDING',
  'PENDING APPROVE': 'APPROVED',
  'CHANGES_REQUESTED APPROVE': 'APPROVED',
  'REJECTED APPROVE': 'APPROVED',
  'PENDING REQUEST_CHANGES': 'CHANGES_REQUESTED',
  'APPROVED REQUEST_CHANGES': 'CHANGES_REQUESTED',
  'PENDING REJECT': 'REJECTED',
  'APPROVED REJECT': 'REJECTED',
  'CHANGES_REQUESTED REJECT': 'REJECTED',
}

/** Where a post is put that is scheduled: in REQUIRED it waits for a decision. */
const scheduled = (mode: Mode, approval: Approval): Approval => (mode === 'REQUIRED' && approval === 'NONE' ? 'PENDING' : approval)

/** Changes a post; what is as it was is no new version. */
function put(post: Post, changes: Partial<Post>): null {
  const before = JSON.stringify(post)
  Object.assign(post, changes)
  if (JSON.stringify(post) !== before) post.version += 1
  return null
}

const threadOf = (model: Model, name: string) => model.threads.find(posts => posts.includes(name))!
const statusOf = (statuses: readonly Status[]): Status =>
  statuses.every(one => one === 'PUBLISHED') ? 'PUBLISHED' : ((['FAILED', 'SCHEDULED'] as const).find(one => statuses.includes(one)) ?? 'DRAFT')

/** An operation: what the model makes of it, and what is done. The one says why not, as the other is answered. */
interface Operation {
  readonly name: string
  /** @returns why it is refused; null when it is done */
  expect(model: Model): string | null
  perform(real: Real, model: Model): Promise<unknown>
}

/** After each operation everything stands where the model has it. */
async function compare(model: Model, { owner, brandId, ids, heads }: Real): Promise<void> {
  const document = `query($brandId: ID!) {
    posts(brandId: $brandId, first: 100) { nodes { id copy status approval held deliveryPhase scheduledAt version threadId } }
    postThreads(brandId: $brandId, first: 100) { nodes { id status posts { id } } } }`
  const { posts, postThreads } = (await world().execute(document, { brandId }, { as: owner })).data()
  const nameOf = new Map([...ids].map(([name, id]) => [id, name]))
  const found = new Map(
    posts.nodes.map(({ id, deliveryPhase, scheduledAt, threadId, ...post }: Record<string, string>) => [
      nameOf.get(id!),
      { ...post, isOpen: deliveryPhase === 'UNKNOWN', isTimed: scheduledAt !== null, threadId },
    ]),
  )
  const wanted = [...model.posts].map(([name, { at, ...post }]) => [name, { ...post, isTimed: at !== null, threadId: heads.get(name) }] as const)
  expect(found).toEqual(new Map(wanted))
  // A thread is in the list from its second post on, and stays there with the last.
  const threads = new Map(postThreads.nodes.map((thread: { id: string; status: string; posts: { id: string }[] }) => [thread.id, thread]))
  for (const names of model.threads) {
    if (names.length < 2) continue
    const thread = threads.get(heads.get(names[0]!)!) as { status: string; posts: { id: string }[] }
    expect(thread.posts.map(({ id }) => nameOf.get(id))).toEqual(names)
    expect(thread.status).toBe(statusOf(names.map(name => model.posts.get(name)!.status)))
  }
}

class Command implements fc.AsyncCommand<Model, Real> {
  readonly operation: Operation
  constructor(operation: Operation) {
    this.operation = operation
  }
  check = (): boolean => true
  async run(model: Model, real: Real): Promise<void> {
    // What is done is worked out of the model as it stands before.
    const before = structuredClone(model)
    const why = this.operation.expect(model)
    const told = await this.operation.perform(real, before).then(
      () => null,
      error => {
        if (error instanceof No) return error.message
        throw error
      },
    )
    expect(told, this.operation.name).toBe(why)
    await compare(model, real)
  }
  toString = (): string => this.operation.name
}

/** The post that a number stands for, of those that are there; undefined when there is none. */
const picked = (model: Model, number: number): string | undefined => [...model.posts.keys()][number % Math.max(1, model.posts.size)]

/** An operation with one post; nothing is done where there is none. */
const withPost = (
  name: string,
  number: number,
  becomes: (post: Post, model: Model, id: string) => string | null,
  input: (id: string) => readonly [string, object],
): Operation => ({
  name: `${name} ${number}`,
  expect(model) {
    const id = picked(model, number)
    return id === undefined ? null : becomes(model.posts.get(id)!, model, id)
  },
  async perform(real, model) {
    const id = picked(model, number)
    if (id !== undefined) await ask(real, ...input(real.ids.get(id)!))
  },
})

const write = (model: Model, at: number | null): string => {
  const name = `p${model.written++}`
  model.posts.set(name, {
    status: at === null ? 'DRAFT' : 'SCHEDULED',
    approval: at === null ? 'NONE' : scheduled(model.mode, 'NONE'),
    ...{ held: false, isOpen: false, at, copy: `Words of ${name}`, version: 1 },
  })
  return name
}
const soon = () => world().clock.soon(hourMs)

const create = (isTimed: boolean): Operation => ({
  name: `create${isTimed ? ', timed' : ''}`,
  expect(model) {
    model.threads.push([write(model, isTimed ? model.hour + 1 : null)])
    return null
  },
  async perform(real, { written }) {
    const name = `p${written}`
    const input = { brandId: real.brandId, platform: 'X', copy: `Words of ${name}`, ...(isTimed && { scheduledAt: soon() }) }
    const { id } = await ask(real, 'createPost', input)
    real.ids.set(name, id)
    real.heads.set(name, id)
  },
})

const createThread = (count: number, isTimed: boolean): Operation => ({
  name: `thread of ${count}${isTimed ? ', timed' : ''}`,
  expect(model) {
    model.threads.push(Array.from({ length: count }, () => write(model, isTimed ? model.hour + 1 : null)))
    return null
  },
  async perform(real, { written }) {
    const names = Array.from({ length: count }, (_, at) => `p${written + at}`)
    const input = { brandId: real.brandId, platform: 'X', posts: names.map(name => ({ copy: `Words of ${name}` })), ...(isTimed && { scheduledAt: soon() }) }
    const { id, posts } = await ask(real, 'createPostThread', input, 'id posts { id }')
    for (const [at, name] of names.entries()) {
      real.ids.set(name, posts[at].id)
      real.heads.set(name, id)
    }
  },
})

const follow = (number: number, isTimed: boolean): Operation => ({
  name: `follow ${number}${isTimed ? ', timed' : ''}`,
  expect(model) {
    const name = picked(model, number)
    if (name) threadOf(model, name).push(write(model, isTimed ? model.hour + 1 : null))
    return null
  },
  async perform(real, model) {
    const earlier = picked(model, number)
    if (!earlier) return
    const name = `p${model.written}`
    const threadId = real.heads.get(earlier)!
    const input = { brandId: real.brandId, platform: 'X', copy: `Words of ${name}`, threadId, ...(isTimed && { scheduledAt: soon() }) }
    real.ids.set(name, (await ask(real, 'createPost', input)).id)
    real.heads.set(name, threadId)
  },
})

const edit = (number: number, copy: string) =>
  withPost(
    `edit to ${copy}`,
    number,
    (post, { mode }) =>
      closed(post) ??
      put(post, { copy, approval: post.copy !== copy && post.approval === 'APPROVED' && mode !== 'NONE' ? 'PENDING' : scheduledOf(post, mode) }),
    id => ['updatePost', { id, copy }],
  )
const scheduledOf = ({ status, approval }: Post, mode: Mode): Approval => (status === 'SCHEDULED' ? scheduled(mode, approval) : approval)

const schedule = (number: number) =>
  withPost(
    'schedule',
    number,
    (post, { mode, hour }) => closed(post) ?? put(post, { status: 'SCHEDULED', at: hour + 1, approval: scheduled(mode, post.approval) }),
    id => ['reschedulePost', { id, scheduledAt: soon() }],
  )
const revert = (number: number) =>
  withPost(
    'revert',
    number,
    post => closed(post) ?? put(post, { status: 'DRAFT', at: null }),
    id => ['updatePost', { id, scheduledAt: null }],
  )
const cancel = (number: number) =>
  withPost(
    'cancel',
    number,
    post => closed(post) ?? (post.status === 'SCHEDULED' ? put(post, { status: 'DRAFT', at: null }) : 'ILLEGAL_MOVE'),
    id => ['cancelPost', { id }],
  )
const publish = (number: number) =>
  withPost(
    'publish',
    number,
    (post, { mode, hour }) =>
      closed(post) ?? (mode === 'REQUIRED' && post.approval !== 'APPROVED' ? 'APPROVAL_REQUIRED' : put(post, { status: 'SCHEDULED', at: hour })),
    id => ['publishPost', { id }],
  )
const remove = (number: number) =>
  withPost(
    'delete',
    number,
    (post, model, name) => {
      const why = closed(post)
      if (why) return why
      model.posts.delete(name)
      model.threads = model.threads.map(names => names.filter(each => each !== name)).filter(names => names.length > 0)
      return null
    },
    id => ['deletePost', { id }],
  )
const submit = (number: number) =>
  withPost(
    'submit',
    number,
    (post, { mode }) => {
      const approval = decided[`${post.approval} SUBMIT`]
      return post.status === 'PUBLISHED' || !approval || mode === 'NONE' ? 'ILLEGAL_MOVE' : put(post, { approval })
    },
    id => ['submitPost', { id }],
  )
const decide = (number: number, decision: Decision) =>
  withPost(
    decision,
    number,
    post => {
      if (post.status === 'PUBLISHED') return 'ILLEGAL_MOVE'
      if (decision === 'HOLD' || decision === 'RELEASE') return put(post, { held: decision === 'HOLD' })
      const approval = decided[`${post.approval} ${decision}`]
      return approval ? put(post, { approval }) : 'ILLEGAL_MOVE'
    },
    id => ['decidePost', { id, decision, comment: 'Because' }],
  )
const resolve = (number: number, isThere: boolean) =>
  withPost(
    `resolve as ${isThere ? 'there' : 'not there'}`,
    number,
    post => (post.isOpen ? put(post, { isOpen: false, status: isThere ? 'PUBLISHED' : 'FAILED' }) : 'ILLEGAL_MOVE'),
    id => ['resolveDelivery', { id, ...(isThere && { platformPostId: String(++published) }) }],
  )

const changeMode = (mode: Mode): Operation => ({
  name: `mode ${mode}`,
  expect(model) {
    const was = model.mode
    model.mode = mode
    for (const post of model.posts.values()) {
      if (mode === 'REQUIRED' && was !== mode && post.status === 'SCHEDULED') put(post, { approval: scheduled(mode, post.approval) })
      if (mode === 'NONE' && was !== mode && post.status !== 'PUBLISHED' && post.approval === 'PENDING') put(post, { approval: 'NONE' })
    }
    return null
  },
  perform: (real, _) => ask(real, 'updateBrand', { id: real.brandId, approvalMode: mode }),
})

/** The thread turned by so many places. */
const turned = (model: Model, number: number, by: number) => {
  const name = picked(model, number)
  const names = name ? threadOf(model, name) : []
  return { names, order: [...names.slice(by % Math.max(1, names.length)), ...names.slice(0, by % Math.max(1, names.length))] }
}
const reorder = (number: number, by: number): Operation => ({
  name: `reorder ${number} by ${by}`,
  expect(model) {
    const { names, order } = turned(model, number, by)
    const moved = names.filter((name, at) => order[at] !== name).map(name => model.posts.get(name)!)
    const fixed = moved.find(({ status, isOpen }) => isOpen || status === 'PUBLISHED')
    if (fixed) return fixed.isOpen ? 'OUTCOME_UNKNOWN' : 'ILLEGAL_MOVE'
    for (const post of moved) post.version += 1
    names.splice(0, names.length, ...order)
    return null
  },
  async perform(real, model) {
    const { order } = turned(model, number, by)
    if (order.length > 0) await ask(real, 'reorderPostThread', { id: real.heads.get(order[0]!), postIds: order.map(name => real.ids.get(name)) })
  },
})

/** Two hours pass, and what is due is sent; the network answers all of it in one way. */
const pass = (end: End): Operation => ({
  name: `two hours pass, ${end}`,
  expect(model) {
    model.hour += 2
    for (const names of model.threads)
      for (const [at, name] of names.entries()) {
        const post = model.posts.get(name)!
        const earlier = at === 0 ? null : model.posts.get(names[at - 1]!)!
        const isDue = post.status === 'SCHEDULED' && post.at! <= model.hour && !post.held && (post.approval === 'NONE' || post.approval === 'APPROVED')
        if (!isDue || (earlier && earlier.status !== 'PUBLISHED')) continue
        put(post, end === 'delivered' ? { status: 'PUBLISHED' } : { status: 'FAILED', isOpen: end === 'unknown' })
      }
    return null
  },
  async perform(real, { threads }) {
    await world().clock.advance(2 * hourMs)
    real.answer = end
    // Later ones first: they wait for those before them, and are met again.
    const names = [...threads.flat().reverse(), ...threads.flat()]
    for (const name of names) await wake(world(), { brandId: real.brandId, id: real.ids.get(name)! })
  },
})

const number = fc.nat(11)
const copies = fc.constantFrom('One', 'Two', 'Three')
const commands = fc.commands(
  [
    fc.boolean().map(create),
    fc.tuple(fc.integer({ min: 2, max: 3 }), fc.boolean()).map(([count, isTimed]) => createThread(count, isTimed)),
    fc.tuple(number, fc.boolean()).map(([at, isTimed]) => follow(at, isTimed)),
    fc.tuple(number, copies).map(([at, copy]) => edit(at, copy)),
    ...[schedule, schedule, revert, cancel, publish, remove, submit].map(operation => number.map(operation)),
    fc
      .tuple(number, fc.constantFrom<Decision>('APPROVE', 'APPROVE', 'REQUEST_CHANGES', 'REJECT', 'HOLD', 'RELEASE'))
      .map(([at, decision]) => decide(at, decision)),
    fc.tuple(number, fc.boolean()).map(([at, isThere]) => resolve(at, isThere)),
    ...[changeMode, changeMode].map(operation => fc.constantFrom<Mode>('NONE', 'OPTIONAL', 'REQUIRED').map(operation)),
    fc.tuple(number, fc.integer({ min: 1, max: 2 })).map(([at, by]) => reorder(at, by)),
    fc.constantFrom<End>('delivered', 'delivered', 'refused', 'unknown').map(pass),
  ].map(operations => operations.map(operation => new Command(operation))),
  { maxCommands: 40, size: 'max' },
)

const seed = Number(process.env.SEED ?? 20_261_123)

test(`P-02 P-08 posts, threads and approval behave like a simple model, in any order of actions (seed ${seed})`, async () => {
  const graph = world()
  const network = graph.job.networks.get('X')!
  let real: Real
  const ends: Record<End, () => Delivery> = {
    delivered: () => ({ outcome: 'delivered', platformPostId: String(++published), permalink: `https://x.com/demo/status/${published}` }),
    refused: () => ({ outcome: 'refused', code: 'CONTENT_REFUSED', detail: 'not like this' }),
    unknown: () => ({ outcome: 'unknown', detail: 'silence' }),
  }
  Object.assign(network, { publish: async () => ends[real.answer]() })
  await fc.assert(
    fc.asyncProperty(commands, async steps => {
      const { owner, brand } = await graph.seed.owner().brand().connection()
      real = { owner, brandId: brand.id, ids: new Map(), heads: new Map(), answer: 'delivered' }
      await fc.asyncModelRun(() => ({ model: { mode: 'NONE', hour: 0, threads: [], posts: new Map(), written: 0 } as Model, real }), steps)
    }),
    { seed, numRuns: Number(process.env.RUNS ?? 8), endOnFailure: true },
  )
})
