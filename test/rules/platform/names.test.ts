import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import packet from 'dns-packet'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { doFor, doForOrganization } from '../../../platform/caller/cause.ts'
import { createCallersWay } from '../../../platform/outbound/callers.ts'
import { createNames, type NamesOptions } from '../../../platform/outbound/names.ts'

/** What a server of DNS answers for a name: addresses and how long they hold, nothing there, no answer at all. */
type Zone = Readonly<Record<string, { readonly A?: string; readonly AAAA?: string; readonly ttl?: number; readonly silent?: 'A' | 'AAAA' | 'both' }>>

const zone: Zone = {
  'public.test': { A: '93.184.216.34', AAAA: '2606:2800:220:1::1', ttl: 300 },
  'four.test': { A: '93.184.216.35' },
  'half.test': { A: '93.184.216.36', silent: 'AAAA' },
  'empty.test': {},
  'doubtful.test': { silent: 'A' },
}
const asked: string[] = []
let server: Socket
let servers: string[]
const folder = mkdtempSync(join(tmpdir(), 'names-'))
const hostsFile = join(folder, 'hosts')
beforeAll(async () => {
  writeFileSync(hostsFile, '# names of this machine\n10.9.8.7  Inside.Test inside # a comment\n\n::1 six.test\n10.9.8.6 inside.test\nnonsense here.test\n')
  server = createSocket('udp4')
  server.on('message', (bytes, from) => {
    const query = packet.decode(bytes)
    const { name, type } = query.questions![0]!
    asked.push(`${name} ${type}`)
    const entry = zone[name.toLowerCase()]
    if (name.startsWith('silent') || entry?.silent === 'both' || entry?.silent === type) return
    const data = entry?.[type as 'A' | 'AAAA']
    const answer = {
      type: 'response' as const,
      id: query.id!,
      // 3 is NXDOMAIN.
      flags: packet.RECURSION_DESIRED | packet.RECURSION_AVAILABLE | (entry ? 0 : 3),
      questions: query.questions!,
      answers: data ? [{ type: type as 'A', name, ttl: entry!.ttl ?? 60, data }] : [],
    }
    server.send(packet.encode(answer), from.port, from.address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  servers = [`127.0.0.1:${(server.address() as AddressInfo).port}`]
})
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true })
})

/** Names that this server answers for. */
function names(options: Partial<NamesOptions> = {}) {
  const resolve = createNames({ servers, hostsFile, timeoutMs: 600, ...options })
  return (name: string, family = 0): Promise<readonly string[] | string> =>
    new Promise(done =>
      resolve(name, { all: true, family }, (error, addresses) => done(error ? (error.code ?? error.message) : addresses.map(({ address }) => address))),
    )
}

describe('names that callers give', () => {
  test.each<[string, string, readonly string[] | string]>([
    ['both families, IPv4 first', 'public.test', ['93.184.216.34', '2606:2800:220:1::1']],
    ['one family alone', 'Four.TEST.', ['93.184.216.35']],
    ['one family when nobody answers for the other', 'half.test', ['93.184.216.36']],
    ['those of the file of names first, without asking', 'inside.test', ['10.9.8.7', '10.9.8.6']],
    ['this machine by its name, without asking', 'any.localhost', ['127.0.0.1', '::1']],
    ['none for a name that is not there', 'missing.test', 'ENOTFOUND'],
    ['none for a name without addresses', 'empty.test', 'ENODATA'],
    ['that nobody answered', 'silent.test', 'ETIMEOUT'],
    ['that nobody answered when one family is silent and the other empty', 'doubtful.test', 'ETIMEOUT'],
  ])('are told %s', async (_what, name, found) => {
    expect(await names()(name)).toEqual(found)
  })

  test('are resolved for the wanted address family', async () => {
    const find = names()
    expect([await find('public.test', 4), await find('public.test', 6), await find('four.test', 6)]).toEqual([
      ['93.184.216.34'],
      ['2606:2800:220:1::1'],
      'ENODATA',
    ])
  })

  test('are resolved once for concurrent callers, and not again while their answer is valid', async () => {
    const find = names()
    asked.length = 0
    await Promise.all(Array.from({ length: 20 }, () => find('public.test')))
    await find('public.test')
    await find('silent.test')
    const before = asked.length
    const began = performance.now()
    expect(await find('silent.test')).toBe('ETIMEOUT')
    expect([asked.filter(name => name.startsWith('public')).toSorted(), asked.length - before]).toEqual([['public.test A', 'public.test AAAA'], 0])
    expect(performance.now() - began).toBeLessThan(300)
  })

  test('are refused at once where no server of DNS is', async () => {
    const find = names({ servers: ['127.0.0.1:1'], timeoutMs: 5_000 })
    expect(await find('public.test')).toBe('ECONNREFUSED')
    const { reaches, close } = createCallersWay([], createNames({ servers: ['127.0.0.1:1'], hostsFile }))
    expect(await reaches(new URL('https://public.test/'))).toBe(true)
    await close()
  })

  test('without an answer delay no other organization, and no file access of this process', async () => {
    const find = names({ timeoutMs: 2_000, atOnce: { ofOne: 2, inAll: 4 } })
    asked.length = 0
    const timeline: string[] = []
    const silent = Array.from({ length: 40 }, (_, at) => doForOrganization('hostile', () => find(`silent${at}.test`)))
    void Promise.all(silent).then(() => timeline.push('silent names'))
    await readFile(hostsFile)
    expect(await doForOrganization('polite', () => find('public.test'))).toEqual(['93.184.216.34', '2606:2800:220:1::1'])
    expect(await doFor({ caller: 'user:1' }, () => find('four.test'))).toEqual(['93.184.216.35'])
    timeline.push('other names')
    // Six of the forty find the queue full; the others wait for their own lookup.
    expect(new Set(asked.filter(name => name.startsWith('silent')).map(name => name.split(' ')[0]))).toEqual(new Set(['silent0.test', 'silent1.test']))
    expect(new Set(await Promise.all(silent))).toEqual(new Set(['ETIMEOUT']))
    expect(timeline).toEqual(['other names', 'silent names'])
  })

  test('of one organization above the maximum of waiting ones fail at once', async () => {
    const find = names({ timeoutMs: 2_000, atOnce: { ofOne: 2, inAll: 4 } })
    let givenUp = 0
    const silent = Array.from({ length: 40 }, (_, at) => doForOrganization('hostile', () => find(`silent${at}.test`)).then(() => givenUp++))
    await doForOrganization('polite', () => find('public.test'))
    expect(givenUp).toBe(6)
    await Promise.all(silent)
  })

  test('that many organizations ask for get places in turn', async () => {
    const find = names({ atOnce: { ofOne: 1, inAll: 1 } })
    const order: string[] = []
    const ask = (organization: string, name: string) => doForOrganization(organization, () => find(name)).then(() => order.push(name))
    await Promise.all([...['a', 'b', 'c', 'e'].map(each => ask('one', `missing-${each}.test`)), ask('two', 'missing-d.test')])
    expect(order.indexOf('missing-d.test')).toBeLessThan(order.indexOf('missing-c.test'))
  })
})
