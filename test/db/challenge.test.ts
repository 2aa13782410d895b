import { type Challenge, solveChallenge } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createChallenges } from '../../platform/caller/challenge.ts'
import { spentChallenges } from '../../platform/sql/spent.ts'
import { createTestDatabase, type TestDatabase } from '../kit/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database[Symbol.asyncDispose]())

const now = new Date()
const later = (ms: number) => new Date(now.getTime() + ms)
const challengesOf = (slug = 'agents', secret = 'a secret of these tests') =>
  createChallenges({ spend: spentChallenges(database.sequelize, slug), secret, counter: { from: 20, to: 40 } })
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')
/** Solves a challenge as ALTCHA's widget does, and sends it as that does. */
const solve = async (challenge: Challenge) => ({ challenge, solution: (await solveChallenge({ challenge, deriveKey }))! })

describe('a proof-of-work challenge', () => {
  it('can be read by the ALTCHA widget, needs the configured work, and ends after five minutes', async () => {
    const challenge = await challengesOf().create(now)
    expect(challenge).toEqual({
      parameters: {
        ...{ algorithm: 'PBKDF2/SHA-256', cost: 1_000, keyLength: 32, expiresAt: Math.floor(later(300_000).getTime() / 1_000) },
        ...{ nonce: expect.any(String), salt: expect.any(String), keyPrefix: expect.any(String), keySignature: expect.any(String) },
      },
      signature: expect.any(String),
    })
    const { solution } = await solve(challenge)
    expect(solution.counter).toBeGreaterThanOrEqual(20)
    expect(solution.counter).toBeLessThanOrEqual(40)
  })

  it('accepts a solution of ALTCHA’s own library once, over all processes', async () => {
    const solution = encode(await solve(await challengesOf().create(now)))
    const processes = Array.from({ length: 8 }, () => challengesOf())
    const accepted = await Promise.all(processes.map(each => each.accept(solution, now)))
    expect(accepted.filter(Boolean)).toHaveLength(1)
    expect(await challengesOf().accept(solution, now)).toBe(false)
  })

  it('rejects a solution that is expired, altered, without the work, of another secret or missing', async () => {
    const challenges = challengesOf()
    const solved = await solve(await challenges.create(now))
    const { challenge, solution } = solved
    const altered = (parameters: object) => encode({ solution, challenge: { ...challenge, parameters: { ...challenge.parameters, ...parameters } } })
    expect(await challenges.accept(encode(solved), later(301_000))).toBe(false)
    const wrong = [
      altered({ expiresAt: challenge.parameters.expiresAt! + 60 }),
      altered({ cost: 1 }),
      altered({ nonce: '00'.repeat(16) }),
      altered({ keyPrefix: '00' }),
      encode({ challenge, solution: { ...solution, derivedKey: '00'.repeat(32) } }),
      encode({ challenge: { ...challenge, signature: undefined }, solution }),
      encode({ challenge }),
      'none',
      'x'.repeat(5_000),
      ...[undefined, null, 7, {}],
    ]
    for (const each of wrong) expect(await challenges.accept(each, now), JSON.stringify(each)?.slice(0, 80)).toBe(false)
    expect(await challengesOf('agents', 'another secret').accept(encode(solved), now)).toBe(false)
    // None of these attempts has used up the challenge.
    expect(await challenges.accept(encode(solved), now)).toBe(true)
  })

  it('refuses a second spelling of a signature that was used', async () => {
    const challenges = challengesOf()
    const { challenge, solution } = await solve(await challenges.create(now))
    expect(await challenges.accept(encode({ challenge, solution }), now)).toBe(true)
    const upper = { ...challenge, signature: challenge.signature!.toUpperCase() }
    expect(await challenges.accept(encode({ challenge: upper, solution }), now)).toBe(false)
  })

  it('is counted by each service for itself', async () => {
    const solution = encode(await solve(await challengesOf().create(now)))
    expect([await challengesOf('agents').accept(solution, now), await challengesOf('launcher').accept(solution, now)]).toEqual([true, true])
  })
})
