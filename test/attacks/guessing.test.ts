import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Machine, startMachine } from '../kit/apart.ts'
import { type DataFolder, newDataFolder } from '../kit/launch.ts'
import { attackMs, isWanted } from './siege.ts'

/** Signs in over a connection of its own, so that whichever router and identity may be asked. */
function signIn(url: string, from: string, email: string, password: string): Promise<{ readonly status: number; readonly ms: number }> {
  const began = performance.now()
  const { promise, resolve, reject } = Promise.withResolvers<{ readonly status: number; readonly ms: number }>()
  const call = request(
    new URL('/identity/api/auth/sign-in/email', url.replace('localhost', '127.0.0.1')),
    { method: 'POST', localAddress: from, agent: false, headers: { 'content-type': 'application/json' } },
    answer => {
      answer.resume()
      answer.on('end', () => resolve({ status: answer.statusCode!, ms: performance.now() - began }))
    },
  )
  call.on('error', reject)
  call.end(JSON.stringify({ email, password }))
  return promise
}

const quantile = (times: readonly number[], part: number) => times.toSorted((a, b) => a - b)[Math.ceil(times.length * part) - 1]!

describe.skipIf(!isWanted || process.platform !== 'linux')('guessing at two routers and two processes of identity', () => {
  let folder: DataFolder
  let machine: Machine
  beforeAll(async () => {
    folder = await newDataFolder()
    machine = await startMachine(folder, 'identity=2,router=2')
  }, 180_000)
  afterAll(async () => {
    await machine?.[Symbol.asyncDispose]()
    await folder?.[Symbol.asyncDispose]()
  })

  test('allows ten wrong passwords to an account, while a person at a known address signs in as usual', { timeout: 120_000 }, async () => {
    const polite = () => signIn(machine.url, '127.0.0.9', 'owner@demo.test', 'supergraph-demo')
    const during = async (forMs: number) => {
      const times: number[] = []
      for (const overAt = performance.now() + forMs; performance.now() < overAt; ) {
        const { status, ms } = await polite()
        expect(status).toBe(200)
        times.push(ms)
      }
      return times
    }
    /** What guesses at an account over so many connections are answered, from four hundred addresses. */
    const siege = async (email: string, forMs: number) => {
      const statuses: number[] = []
      const overAt = performance.now() + forMs
      const guess = async (seat: number) => {
        for (let turn = 0; performance.now() < overAt; turn++)
          statuses.push((await signIn(machine.url, `127.3.${seat}.${1 + (turn % 50)}`, email, `a wrong pass phrase ${turn}`)).status)
      }
      await Promise.all(Array.from({ length: 8 }, (_, seat) => guess(seat)))
      return statuses
    }
    // Warms up first: compilation of hot code is not part of an attack.
    await Promise.all([during(2_000), siege('viewer@demo.test', 2_000)])
    const peace = await during(attackMs)
    const [times, statuses] = await Promise.all([during(attackMs), siege('member@demo.test', attackMs)])
    // With fewer than three hundred samples p99 is the maximum, which any pause of the machine causes.
    const part = times.length < 300 || peace.length < 300 ? 0.9 : 0.99
    const [before, meanwhile] = [quantile(peace, part), quantile(times, part)]
    console.info(
      `guesses ${statuses.length}; p${part * 100} of the polite: ${before.toFixed(0)} ms in peace (${peace.length}), ${meanwhile.toFixed(0)} ms in the siege (${times.length})`,
    )
    expect(statuses.filter(status => status === 401)).toHaveLength(10)
    expect(new Set(statuses)).toEqual(new Set([401, 429]))
    expect(meanwhile).toBeLessThanOrEqual(2 * before + 100)
  })

  test('lets one address send a thousand public calls to both routers together', { timeout: 120_000 }, async () => {
    const statuses: number[] = []
    const send = async () => statuses.push((await signIn(machine.url, '127.4.0.1', 'no address', 'x')).status)
    for (let batch = 0; batch < 51; batch++) await Promise.all(Array.from({ length: 20 }, send))
    expect(statuses.filter(status => status !== 429)).toHaveLength(1_000)
  })
})
