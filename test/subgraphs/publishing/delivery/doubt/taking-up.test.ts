import { describe, expect, test } from 'vitest'
import { OutboundFailure } from '../../../../../platform/outbound/failure.ts'
import { absentAfterMs, beginWithinMs, timeoutMs } from '../../../../../subgraphs/publishing/delivery/rules.ts'
import { takeUp } from '../../../../../subgraphs/publishing/delivery/take-up.ts'
import { GrantFailure, type Network } from '../../../../../subgraphs/publishing/network/network.ts'
import type { Lookup } from '../../../../../subgraphs/publishing/network/publication.ts'
import { disconnected } from '../../../../../subgraphs/publishing/stores/connection.ts'
import { sendMs } from '../../../../../subgraphs/publishing/stores/pace.ts'
import { inTransaction } from '../../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../../kit/supergraph.ts'
import { attempts, duePost, interrupt, logged, stored } from '../delivering.ts'
import { publication } from '../publication.ts'

const absent: Lookup = { found: false, isAnothers: false }
const found: Lookup = { found: true, platformPostId: '77', permalink: 'https://x.com/demo/status/77' }

/** A post whose worker died in its call, and whose time is over; what the network says of it, and of the next call, is the test's. */
const begin = async () => {
  const seeded = await duePost()
  const { graph } = seeded
  const { job, clock } = graph
  await interrupt(seeded, { inReplyTo: '5' })
  await clock.advance(sendMs)
  const calls: { find: number; publish: Parameters<Network['publish']>[0][] } = { find: 0, publish: [] }
  const world = {
    find: async (): Promise<Lookup> => absent,
    publish: async (): ReturnType<Network['publish']> => ({ outcome: 'delivered', platformPostId: '88', permalink: 'https://x.com/demo/status/88' }),
  }
  const x = job.networks.get('X')!
  Object.assign(x, {
    find: () => {
      calls.find += 1
      return world.find()
    },
    publish: (publication: Parameters<Network['publish']>[0]) => {
      calls.publish.push(publication)
      return world.publish()
    },
  })
  const take = () => takeUp(job, seeded.key)
  const row = () => stored(graph, seeded.post)
  return { ...seeded, x, world, calls, take, row }
}

const warnings = (graph: Supergraph) => logged(graph, 40).filter(({ level, postId }) => level === 40 && postId)
const fails = (error: unknown) => async () => {
  throw error
}
const sending = { status: 'SCHEDULED', deliveryPhase: 'SENDING' }
const open = { status: 'FAILED', deliveryPhase: 'UNKNOWN', failureCode: 'OUTCOME_UNKNOWN' }
const says = (words: string) => expect.stringContaining(words)

describe('P-10 taking up an interrupted call', () => {
  test('happens after its worker’s claim has expired, by one worker that then holds it; no other post is touched', async () => {
    const { graph, world, calls, take, row, post } = await begin()
    await using _ = graph
    world.find = fails(new Error('the network does not answer'))
    await take()
    const held = await row()
    expect(held).toMatchObject({ ...sending, claimUntil: graph.clock.in(sendMs) })
    await graph.clock.advance(sendMs - 1)
    await take()
    expect([calls.find, await row()]).toEqual([1, held])
    expect(warnings(graph)[0]).toMatchObject({ postId: post.id, attempt: 1 })
    await graph.clock.advance(1)
    await graph.rows(`update publishing.posts set delivery_phase = 'CLAIMED'`)
    await take()
    await graph.rows('delete from publishing.posts')
    await take()
    expect(calls.find).toBe(1)
  })

  test('publishes the post without another call when the network has it', async () => {
    const { graph, world, calls, take, row } = await begin()
    await using _ = graph
    world.find = async () => found
    await take()
    expect([await row(), calls.publish]).toMatchObject([{ status: 'PUBLISHED', platformPostId: '77' }, []])
  })

  test('repeats the call with the same text and place when the network does not have it, with an audit entry', async () => {
    const { graph, calls, take, row, post, connection } = await begin()
    await using _ = graph
    const target = { kind: 'GROUP', externalId: '9', name: null } as const
    await graph.rows(`update publishing.posts set copy = 'Edited', target = $1`, [JSON.stringify(target)])
    const now = graph.clock.now()
    await take()
    const accessToken = graph.job.connections.open(connection).accessToken
    const account = { externalId: connection.externalAccountId, name: connection.accountName }
    expect(calls.publish).toEqual([publication({ accessToken, account, copy: post.copy, target, inReplyTo: '5' })])
    expect(await row()).toMatchObject({ status: 'PUBLISHED', platformPostId: '88', attempts: 2, connectionId: connection.id })
    const same = { copy: post.copy, in_reply_to: '5', finished_at: now }
    expect(await attempts(graph)).toMatchObject([
      { number: 1, outcome: 'NOT_DELIVERED', detail: expect.stringMatching(/\w/), ...same },
      { number: 2, outcome: 'DELIVERED', ...same },
    ])
    expect(await graph.rows(`select actor, subject_id, details, at from publishing.audit_entries where action = 'post.taken-up'`)).toEqual([
      { actor: 'delivery', subject_id: post.id, details: { attempt: 2 }, at: now },
    ])
  })

  test('repeats the call only after two minutes where the network accepts duplicates', async () => {
    const { graph, x, calls, take, row } = await begin()
    await using _ = graph
    Object.assign(x, { refusesDuplicates: false })
    await graph.clock.advance(absentAfterMs - sendMs - 1)
    await take()
    expect([calls.publish, await row()]).toMatchObject([[], sending])
    await graph.rows('update publishing.posts set claim_until = $1', [graph.clock.in(1)])
    await graph.clock.advance(1)
    await take()
    expect([calls.publish.length, (await row()).status]).toEqual([1, 'PUBLISHED'])
  })

  test('does nothing when another worker has claimed the post meanwhile', async () => {
    for (const change of ['claim_id = gen_random_uuid()', `delivery_phase = 'CLAIMED'`]) {
      const { graph, world, calls, take, row } = await begin()
      await using _ = graph
      world.find = async () => {
        await graph.rows(`update publishing.posts set ${change}`)
        return absent
      }
      await take()
      expect([calls.publish, (await row()).status, (await attempts(graph)).length]).toEqual([[], 'SCHEDULED', 1])
    }
  })
})

describe('P-10 a network without a clear answer about an interrupted call', () => {
  test('is asked again after each claim, for an hour; then the outcome is unknown', async () => {
    const { graph, world, take, row, post } = await begin()
    await using _ = graph
    world.find = fails(new OutboundFailure('X is away', false))
    const { version } = await row()
    await take()
    const since = graph.clock.now()
    expect(await row()).toMatchObject({ ...sending, waits: 1, waitingSince: since, waitsUntil: graph.clock.in(sendMs), version })
    expect(warnings(graph).at(-1)).toMatchObject({ postId: post.id, err: { message: 'X is away' } })
    await graph.clock.advance(timeoutMs - 1)
    await take()
    expect(await row()).toMatchObject({ ...sending, waits: 2, waitingSince: since })
    await graph.rows('update publishing.posts set claim_until = $1', [graph.clock.in(1)])
    await graph.clock.advance(1)
    await take()
    expect([await row(), await attempts(graph)]).toMatchObject([
      { ...open, failureMessage: says('X is away') },
      [{ outcome: 'UNKNOWN', detail: says('X is away') }],
    ])
  })

  test('that only a person can make answer: the outcome is unknown at once, with our own message', async () => {
    const { graph, take, row, connection } = await begin()
    await using _ = graph
    await inTransaction(graph.job, ({ transaction }) => graph.job.connections.update(connection, disconnected('gone'), transaction))
    await take()
    expect([await row(), await attempts(graph)]).toMatchObject([open, [{ outcome: 'UNKNOWN', detail: says('connection') }]])
  })

  test('because of an internal error: people read that the network could not be asked', async () => {
    const { graph, world, take, row } = await begin()
    await using _ = graph
    world.find = fails(new Error('a secret of the inside'))
    await graph.rows('update publishing.posts set waits = 1, waits_until = $1, waiting_since = $2', [graph.clock.now(), graph.clock.in(-timeoutMs)])
    await take()
    const { detail } = (await attempts(graph))[0] as { detail: string }
    expect([await row(), detail.includes('secret'), /and \w/.test(detail)]).toMatchObject([open, false, true])
  })

  test('changes nothing for a worker that has lost the post meanwhile', async () => {
    const { graph, world, take, row } = await begin()
    await using _ = graph
    world.find = async () => {
      await graph.rows('update publishing.posts set claim_id = gen_random_uuid()')
      throw new OutboundFailure('X is away', false)
    }
    await take()
    expect([await row(), await attempts(graph)]).toMatchObject([{ ...sending, waits: 0 }, [{ outcome: null }]])
  })
})

describe('P-10 the second call of an interrupted post', () => {
  test('leaves the outcome unknown when it is rejected, and stores the reason', async () => {
    const { graph, world, take, row } = await begin()
    await using _ = graph
    world.publish = async () => ({ outcome: 'refused', code: 'RATE_LIMITED', detail: 'too many today' })
    await take()
    expect([await row(), (await attempts(graph)).at(-1)]).toMatchObject([
      open,
      { number: 2, outcome: 'UNKNOWN', refusal: 'RATE_LIMITED', detail: says('too many today') },
    ])
  })

  test('is made after the claim when it was certainly not made, as the same attempt; after an hour the outcome is unknown', async () => {
    const { graph, world, calls, take, row } = await begin()
    await using _ = graph
    world.publish = async () => ({ outcome: 'unsent', detail: 'X is away' })
    await take()
    const now = graph.clock.now()
    expect([await row(), (await attempts(graph)).at(-1)]).toMatchObject([
      { ...sending, attempts: 2, waits: 1 },
      { number: 2, outcome: 'NOT_SENT', finished_at: now },
    ])
    await graph.clock.advance(timeoutMs)
    await take()
    expect([calls.publish.length, await row(), await attempts(graph)]).toMatchObject([
      2,
      { ...open, attempts: 2 },
      [{ outcome: 'NOT_DELIVERED' }, { outcome: 'UNKNOWN', detail: says('X is away') }],
    ])
  })

  test.each([
    [
      'has one that is out of use',
      `update publishing.connections set active = false, deactivated_reason = 'gone', access_token = null, refresh_token = null, token_expires_at = null`,
      open,
    ],
  ])('that %s is not made', async (_what, sql, state) => {
    const { graph, world, calls, take, row } = await begin()
    await using _ = graph
    world.find = async () => {
      await graph.rows(sql)
      return absent
    }
    await take()
    expect([calls.publish, await row(), (await attempts(graph)).at(-1)]).toMatchObject([
      [],
      state,
      { outcome: 'UNKNOWN', detail: expect.stringMatching(/interrupted, and \w/) },
    ])
  })

  test('is not made when the network is no longer configured', async () => {
    const { graph, world, calls, take, row } = await begin()
    await using _ = graph
    world.find = async () => {
      ;(graph.job.networks as Map<string, unknown>).delete('X')
      await graph.clock.advance(absentAfterMs)
      await graph.rows('update publishing.posts set claim_until = $1', [graph.clock.in(sendMs)])
      return absent
    }
    await take()
    expect([calls.publish, await row()]).toMatchObject([[], open])
  })

  test('waits when no new token is available, or the call would begin too late', async () => {
    for (const late of [false, true]) {
      const { graph, x, calls, take, row } = await begin()
      await using _ = graph
      const { begin: record } = graph.job.attempts
      Object.assign(x, { refresh: fails(new GrantFailure('Not now.', false)) })
      Object.assign(graph.job.attempts, {
        begin: async (...parameters: Parameters<typeof record>) => {
          const attempt = await record(...parameters)
          if (late) await graph.clock.advance(beginWithinMs + 1)
          else await graph.rows('update publishing.connections set token_expires_at = $1', [graph.clock.now()])
          return attempt
        },
      })
      await take()
      expect([calls.publish, await row(), (await attempts(graph)).at(-1)]).toMatchObject([[], { ...sending, waits: 1 }, { outcome: 'NOT_SENT' }])
    }
  })
})
