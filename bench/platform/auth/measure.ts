import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { takeRounds } from '../../embedded.ts'
import { loadCore, measuredCore, said, start } from '../../processes.ts'
import { median, tableOf } from '../../table.ts'

const here = (path: string) => join(import.meta.dirname, path)

interface Asked {
  readonly rounds: number
  readonly only?: RegExp | undefined
  /** Whether the peers are installed. */
  readonly peers: boolean
}

/** Measures authentication and sign-in, and the effect of wrong passwords on other callers. */
export async function measureAuth({ rounds, only, peers }: Asked): Promise<string> {
  await using world = start(here('../world.ts'), [], { core: loadCore })
  const { settings, databaseUrl } = await said<{ settings: Record<string, string>; databaseUrl: string }>(world)
  const check = (name: string, what: string) => ({ name, program: here('check.ts'), args: [what], env: settings })
  const peer = 'verifyApiKey of better-auth'
  const keys = await takeRounds(
    [
      check('a key, asked about anew', 'key alone'),
      check('the same, with what a router does besides', 'key'),
      ...(peers ? [{ name: peer, program: here('../../peers/verify-key.mjs'), args: [databaseUrl] }] : []),
    ],
    { rounds, seconds: 1.5, only },
  )
  const tokens = await takeRounds([check('jwtVerify of jose', 'jose'), check('a token that is new', 'token'), check('a token that was seen', 'token again')], {
    rounds,
    seconds: 1.5,
    only,
  })
  return `${tableOf(keys, 'µs/check', ['a key, asked about anew'])}\n\n${tableOf(tokens, 'µs/check', ['jwtVerify of jose'])}\n\n${await measureSignIn(settings, rounds)}`
}

/** Seconds of each part of a round. */
const seconds = 4
/** Queries of other callers, and wrong passwords, a second. */
const [queriesASecond, wrongASecond] = [100, 50]

interface Place {
  readonly url: string
  readonly host: string
  readonly people: readonly string[]
  readonly password: string
}

async function measureSignIn(settings: Readonly<Record<string, string>>, rounds: number): Promise<string> {
  await using running = start(here('sign-in.ts'), [], { core: measuredCore, env: settings })
  const place = await said<Place>(running)
  const agent = new Agent({ keepAlive: true })
  let address = 0
  const send = (path: string, body: object, headers: Record<string, string> = {}) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      address += 1
      // Everybody has an address of their own: what counts here is the work, not who is kept waiting.
      const from = `10.${(address >> 16) & 255}.${(address >> 8) & 255}.${address & 255}`
      const given = { 'content-type': 'application/json', host: place.host, 'x-forwarded-for': from, ...headers }
      const asked = request(new URL(path, place.url), { agent, method: 'POST', headers: given }, answer => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', part => {
          text += part
        })
        answer.on('end', () => resolve({ status: answer.statusCode!, text }))
      })
      asked.on('error', reject)
      asked.end(JSON.stringify(body))
    })
  const signIn = (email: string, password: string) => send('/identity/api/auth/sign-in/email', { email, password })
  const { accessToken } = JSON.parse((await signIn(place.people[0]!, place.password)).text)
  const query = () => send('/graphql', { query: '{ viewer { user { name } organization { name } } }' }, { authorization: `Bearer ${accessToken}` })
  const at = (perSecond: number, work: (count: number) => Promise<unknown>) =>
    new Promise<void>(resolve => {
      const under: Promise<unknown>[] = []
      let count = 0
      const timer = setInterval(() => {
        under.push(work(count))
        count += 1
        if (count < perSecond * seconds) return
        clearInterval(timer)
        void Promise.all(under).then(() => resolve())
      }, 1000 / perSecond)
    })
  const times = async (beside: Promise<unknown> | null) => {
    const taken: number[] = []
    await at(queriesASecond, async () => {
      const began = performance.now()
      const { status, text } = await query()
      if (status !== 200 || text.includes('"errors"')) throw new Error(`a query was answered ${status} ${text}`)
      taken.push(performance.now() - began)
    })
    await beside
    return taken.sort((a, b) => a - b)[Math.floor(taken.length * 0.99)]!
  }
  const statuses = new Map<number, number>()
  const wrong = () =>
    at(wrongASecond, async count => {
      const { status } = await signIn(`nobody-${count}@bench.test`, 'a password that is wrong')
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    })
  const throughput = async () => {
    const end = performance.now() + seconds * 1000
    let done = 0
    const one = async (first: number) => {
      for (let person = first; performance.now() < end; person = (person + 8) % place.people.length)
        if ((await signIn(place.people[person]!, place.password)).status === 200) done += 1
    }
    await Promise.all(Array.from({ length: 8 }, (_, first) => one(first)))
    return done / seconds
  }
  await times(null)
  const [quiet, besieged, perSecond]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < rounds; round += 1) {
    quiet.push(await times(null))
    besieged.push(await times(wrong()))
    perSecond.push(await throughput())
  }
  agent.destroy()
  const ratio = median(besieged.map((p99, round) => p99 / quiet[round]!))
  const answered = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')
  return `Sign-ins by password, eight at once: ${median(perSecond).toFixed(1)} a second.
p99 of a neighbour's query (${queriesASecond} a second): ${median(quiet).toFixed(1)} ms; while ${wrongASecond} wrong passwords a second come in ${median(besieged).toFixed(1)} ms, ÷ ${ratio.toFixed(1)}. They were answered ${answered}.`
}
